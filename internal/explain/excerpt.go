package explain

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// share divides a budget among texts of these sizes: a small one is shown whole, and what it leaves goes to the others.
func share(sizes []int, budget int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return sizes[order[a]] < sizes[order[b]] })
	limits := make([]int, len(sizes))
	for n, i := range order {
		limits[i] = min(sizes[i], budget/(len(order)-n))
		budget -= limits[i]
	}
	return limits
}

// excerpt returns at most limit bytes of a stream, and how many those are: all, or two thirds of head and
// one of tail, cut at ends of lines, with a line between them that tells what is missing.
func excerpt(s sandbox.Stream, limit int) (text string, shown int64) {
	if !s.Truncated && len(s.Data) <= limit {
		return string(s.Data), s.Total
	}
	head, tail := []byte(s.Data), []byte(s.Data)
	if s.Truncated {
		head, tail = head[:s.CutAt], tail[s.CutAt:]
	}
	if len(s.Data) > limit {
		head = wholeLines(head[:min(len(head), limit*2/3)])
		tail = fromLine(tail[len(tail)-min(len(tail), limit/3):])
	}
	shown = int64(len(head) + len(tail))
	return fmt.Sprintf("%s\n[... %d of %d bytes are not shown ...]\n%s", bytes.TrimSuffix(head, []byte("\n")), s.Total-shown, s.Total, tail), shown
}

// wholeLines drops what follows the last end of a line, if that is not most of it, and never splits a character.
func wholeLines(head []byte) []byte {
	if at := bytes.LastIndexByte(head, '\n'); at > len(head)/2 {
		return head[:at+1]
	}
	for n := 1; n <= utf8.UTFMax && n <= len(head); n++ {
		if at := len(head) - n; utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}

// fromLine drops what comes before the first line that is whole, if that is not most of it.
func fromLine(tail []byte) []byte {
	if at := bytes.IndexByte(tail, '\n'); at >= 0 && at < len(tail)/2 {
		return tail[at+1:]
	}
	for n := 0; n < utf8.UTFMax && n < len(tail); n++ {
		if utf8.RuneStart(tail[n]) {
			return tail[n:]
		}
	}
	return tail
}

// colours are the sequences with which programs colour what they print to a terminal.
var colours = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)

// legible returns text that any provider takes: valid UTF-8 without colours and control characters. It counts the
// bytes that it had to replace.
func legible(text string) (clean string, replaced int) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(colours.ReplaceAllString(text, ""))
	var b strings.Builder
	b.Grow(len(text))
	bad := false // runs of bytes that are no text are one mark
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if (r == utf8.RuneError && size == 1) || (r < ' ' && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) {
			if !bad {
				b.WriteRune(utf8.RuneError)
			}
			bad = true
			replaced += size
		} else {
			b.WriteString(text[i : i+size])
			bad = false
		}
		i += size
	}
	return b.String(), replaced
}
