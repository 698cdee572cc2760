package grade

import (
	"bytes"
	"fmt"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Exact accepts output that is the answer byte for byte. Nothing is forgiven.
func Exact(answer, output []byte) Finding {
	if bytes.Equal(answer, output) {
		return accepted()
	}
	at := firstDifference(answer, output)
	where := place(output, at)
	got, gotAt := lineAt(output, at)
	want, wantAt := lineAt(answer, at)
	public := where + ": " + describeDifference(answer, output, at)
	if at < len(output) {
		public += ", got " + excerpt(got, gotAt)
	}
	message := public
	if at < len(answer) {
		message += ", want " + excerpt(want, wantAt)
	}
	note := markNote(answer, output)
	return Finding{Verdict: WA, Message: message + note, Public: public + note}
}

func describeDifference(answer, output []byte, at int) string {
	switch {
	case at == len(output):
		return fmt.Sprintf("the output ends after %d bytes, too early", len(output))
	case at == len(answer):
		return fmt.Sprintf("the output goes on after the answer's end, for %d bytes", len(output)-at)
	}
	return "first difference"
}

// Text is Exact for texts: a line may end in CR LF instead of LF, a byte-order mark at the
// beginning is skipped and the last line needs no line end. This holds for both sides.
// Blanks and empty lines count; who wants them forgiven takes Tokens.
func Text(answer, output []byte) Finding { return Exact(plainText(answer), plainText(output)) }

func plainText(data []byte) []byte {
	data = bytes.TrimPrefix(data, byteOrderMark)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.TrimSuffix(data, []byte("\n"))
}

// markNote explains a difference that nobody can see.
func markNote(answer, output []byte) string {
	switch {
	case bytes.HasPrefix(output, byteOrderMark) && !bytes.HasPrefix(answer, byteOrderMark):
		return "; the output begins with a byte-order mark"
	case bytes.HasPrefix(answer, byteOrderMark) && !bytes.HasPrefix(output, byteOrderMark):
		return "; the answer file begins with a byte-order mark"
	}
	return ""
}
