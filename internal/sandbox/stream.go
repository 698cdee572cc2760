package sandbox

import (
	"fmt"
	"unicode/utf8"
)

// Stream is what a program wrote to stdout or stderr: all of it, or its head and
// tail when it was more than the limit keeps.
type Stream struct {
	// Data is the kept output; when Truncated, the head directly followed by the tail.
	Data Bytes `json:"data"`
	// Total counts every byte that the program wrote.
	Total int64 `json:"total_bytes"`
	// Truncated tells that Data is less than Total.
	Truncated bool `json:"truncated"`
	// CutAt is the offset in Data where the missing bytes were.
	CutAt int `json:"cut_at,omitempty"`
}

// NewStream joins the kept head and tail of a stream of total bytes. A cut in the
// middle of a UTF-8 character drops that character's pieces, so that text stays text.
func NewStream(head, tail []byte, total int64) Stream {
	truncated := int64(len(head)+len(tail)) < total
	if truncated {
		head, tail = trimHead(head), trimTail(tail)
	}
	stream := Stream{Data: append(append(make(Bytes, 0, len(head)+len(tail)), head...), tail...), Total: total, Truncated: truncated}
	if truncated {
		stream.CutAt = len(head)
	}
	return stream
}

// Text returns the data as text, with a line that tells how much is missing where it was cut.
func (s Stream) Text() string {
	if !s.Truncated {
		return string(s.Data)
	}
	missing := s.Total - int64(len(s.Data))
	return fmt.Sprintf("%s\n[... %d of %d bytes not kept ...]\n%s", s.Data[:s.CutAt], missing, s.Total, s.Data[s.CutAt:])
}

// trimHead drops an incomplete character at the end of head.
func trimHead(head []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		at := len(head) - i
		if utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			return head
		}
	}
	return head
}

// trimTail drops the continuation bytes with which tail begins.
func trimTail(tail []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(tail); i++ {
		if utf8.RuneStart(tail[i]) {
			return tail[i:]
		}
	}
	return tail
}
