package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// forProgram returns the writer for output of a program: w itself for a pipe or a file,
// and one that disarms control sequences when w is a terminal, which obeys them.
func forProgram(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &disarmer{w: w}
	}
	return w
}

// disarmer makes control characters visible, except line feed, tab and carriage return.
// A character that is cut at the end of one write waits for the next; flush ends the waiting.
type disarmer struct {
	w   io.Writer
	cut []byte
}

// Write writes the visible form of data.
func (d *disarmer) Write(data []byte) (int, error) {
	text := append(d.cut, data...)
	end := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				end = at
			}
			break
		}
	}
	d.cut = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(d.w, visible(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// flush writes what Write held back.
func (d *disarmer) flush() error {
	_, err := io.WriteString(d.w, visible(string(d.cut)))
	d.cut = nil
	return err
}

// visible writes control characters, invalid UTF-8 and characters that change the direction
// of text so that they can be seen: ^[ for escape, \x80 for a byte, \u202e for a character.
func visible(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || r == '\r':
			out.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			out.WriteByte('^')
			out.WriteRune(r ^ 0x40)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// printable is visible for text that is to stay on one line.
func printable(text string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", " ").Replace(visible(text))
}
