package grade

import (
	"bytes"
	"fmt"
	"strconv"
)

// excerptBytes is the most that a message quotes of a token or line.
const excerptBytes = 32

// excerpt quotes data around offset at in ASCII, at most excerptBytes of it, with dots
// where something is left out.
func excerpt(data []byte, at int) string {
	at = max(0, min(at, len(data)))
	from := 0
	if len(data) > excerptBytes {
		from = min(max(0, at-excerptBytes/4), len(data)-excerptBytes)
	}
	to := min(len(data), from+excerptBytes)
	quoted := strconv.QuoteToASCII(string(data[from:to]))
	if from > 0 {
		quoted = "..." + quoted
	}
	if to < len(data) {
		quoted += "..."
	}
	return quoted
}

// firstDifference is the first offset at which a and b differ; the shorter one's length
// when it is a prefix of the other.
func firstDifference(a, b []byte) int {
	limit := min(len(a), len(b))
	for i := range limit {
		if a[i] != b[i] {
			return i
		}
	}
	return limit
}

// place names an offset as people count, from 1, in bytes.
func place(data []byte, at int) string {
	before := data[:min(at, len(data))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

// lineAt is the line of data that holds offset at, without its line end, and where in it at is.
func lineAt(data []byte, at int) (line []byte, inLine int) {
	at = min(at, len(data))
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	end := len(data)
	if next := bytes.IndexByte(data[at:], '\n'); next >= 0 {
		end = at + next
	}
	return data[start:end], at - start
}
