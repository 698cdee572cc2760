package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// IsTerminal tells whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Disarmer makes control characters visible, except line feed, tab and carriage return, as
// [Visible] does. A character that is cut at the end of one write waits for the next; Flush ends the waiting.
type Disarmer struct {
	w   io.Writer
	cut []byte
}

// NewDisarmer returns a Disarmer in front of w.
func NewDisarmer(w io.Writer) *Disarmer { return &Disarmer{w: w} }

// Write writes the visible form of data.
func (d *Disarmer) Write(data []byte) (int, error) {
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
	if _, err := io.WriteString(d.w, Visible(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Flush writes what Write held back.
func (d *Disarmer) Flush() error {
	_, err := io.WriteString(d.w, Visible(string(d.cut)))
	d.cut = nil
	return err
}

// Visible writes control characters, invalid UTF-8 and characters that change the direction
// of text so that they can be seen: ^[ for escape, \x80 for a byte, \u202e for a character.
func Visible(text string) string {
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

// Printable is Visible for text that is to stay on one line.
func Printable(text string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", " ").Replace(Visible(text))
}
