package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sandloop/sandloop/internal/grade"
)

// maxLine bounds a line of a results file in bytes, so that a file that is something else
// does not end up in memory as a whole.
const maxLine = 64 << 20

// ErrTorn means that the last line of a results file is incomplete: its writer was
// interrupted or still writes. All items before it have been read. The error that [Read]
// gives is a [*TornError].
var ErrTorn = errors.New("the last line is torn")

// TornError tells where a torn last line begins. It is an [ErrTorn].
type TornError struct {
	// Line counts from 1, and Offset is in bytes from where reading began: the length of all whole lines.
	Line   int
	Offset int64
}

// Error says which line is torn.
func (e *TornError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, ErrTorn) }

// Unwrap returns ErrTorn.
func (e *TornError) Unwrap() error { return ErrTorn }

// Read reads the lines of a results file one at a time. After an error nothing more comes, and
// the item beside it is empty. A last line without a line feed is an item when it is whole, and
// otherwise a [*TornError]. Empty lines are left out. The sequence can be ranged over once.
func Read(r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := lines{r: bufio.NewReaderSize(r, 64<<10)}
		for {
			item, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// lines takes a results file apart.
type lines struct {
	r *bufio.Reader
	// line is that of the last number, and offset where the next one begins.
	line   []byte
	number int
	offset int64
}

// next returns the item of the next line that is not empty, and io.EOF after the last.
func (l *lines) next() (item Item, err error) {
	for {
		start := l.offset
		whole, err := l.advance()
		if err != nil {
			return Item{}, err
		}
		if len(bytes.TrimSpace(l.line)) == 0 {
			if !whole {
				return Item{}, io.EOF
			}
			continue
		}
		if err = json.Unmarshal(l.line, &item); err != nil && !whole {
			return Item{}, &TornError{Line: l.number, Offset: start}
		}
		if err == nil {
			err = checkVerdicts(item)
		}
		if err != nil {
			return Item{}, fmt.Errorf("line %d: %w", l.number, err)
		}
		return item, nil
	}
}

// advance reads the next line and tells whether it ends with a line feed.
func (l *lines) advance() (whole bool, err error) {
	l.line = l.line[:0]
	l.number++
	for {
		piece, err := l.r.ReadSlice('\n')
		l.line = append(l.line, piece...)
		l.offset += int64(len(piece))
		switch {
		case len(l.line) > maxLine:
			return false, fmt.Errorf("line %d: it is longer than %d MiB, so this is no results file", l.number, maxLine>>20)
		case err == nil:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, fmt.Errorf("line %d: %w", l.number, err)
		}
	}
}

// checkVerdicts refuses what is no verdict, since everything after it counts and colours by them.
func checkVerdicts(item Item) error {
	verdicts := append([]grade.Verdict{item.Verdict}, item.Expected...)
	if item.Previous != nil {
		verdicts = append(verdicts, item.Previous.Verdict)
	}
	for _, test := range item.Tests {
		verdicts = append(verdicts, test.Verdict)
	}
	for _, verdict := range verdicts {
		if verdict == grade.NotRun {
			continue
		}
		if known, err := grade.ParseVerdict(string(verdict)); err != nil {
			return err
		} else if known != verdict {
			return fmt.Errorf("verdict %q is unknown: want %s", verdict, known)
		}
	}
	return nil
}
