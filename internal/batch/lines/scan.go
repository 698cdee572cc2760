package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/sandloop/sandloop/internal/batch"
)

// numbered is a line that is not empty.
type numbered struct {
	number int
	data   []byte // until the next line is read
	err    error  // the line is too long; there is no data then
}

// scan reads lines of at most limit bytes. An error of the reader is the last thing that it yields.
func scan(r io.Reader, limit int) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var data []byte
		for number := 1; ; number++ {
			var err error
			size := 0
			data = data[:0]
			for {
				var piece []byte
				piece, err = in.ReadSlice('\n')
				if size += len(piece); size <= limit {
					data = append(data, piece...)
				}
				if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(numbered{}, fmt.Errorf("read the batch: %w", err))
				return
			}
			if number == 1 {
				data = bytes.TrimPrefix(data, []byte("\ufeff"))
			}
			found := numbered{number: number, data: data}
			if size > limit {
				found.data, found.err = nil, fmt.Errorf("is %d bytes: want at most %d", size, limit)
			}
			if (found.err != nil || len(bytes.TrimSpace(data)) > 0) && !yield(found, nil) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// lineLimit is the longest line: what is escaped in JSON can become shorter as a job.
func (s *Settings) lineLimit() int { return 2 * s.BodyLimit }

// read makes the entry of a line, or an error that names it.
func (s *Settings) read(l numbered) (batch.Entry, error) {
	if l.err != nil {
		return batch.Entry{}, fmt.Errorf("line %d: %w", l.number, l.err)
	}
	entry, err := s.entry(l.data)
	if err == nil {
		err = s.checkSize(entry, len(l.data))
	}
	if err == nil {
		return entry, nil
	}
	if entry.ID == "" {
		return entry, fmt.Errorf("line %d: %w", l.number, err)
	}
	return entry, fmt.Errorf("line %d (%.80q): %w", l.number, entry.ID, err)
}

// checkSize refuses a job that the queue would refuse.
func (s *Settings) checkSize(entry batch.Entry, lineSize int) error {
	const added = 8 << 10               // limits, names and a driver of unit tests
	if lineSize+added < s.BodyLimit/2 { // no text is twice as long in a job as in its line
		return nil
	}
	if size := entry.Size(); size > s.BodyLimit {
		return fmt.Errorf("is a job of %d bytes: want at most %d", size, s.BodyLimit)
	}
	return nil
}

// Entries reads a batch; an error names the line and ends the sequence.
func (s *Settings) Entries(file io.ReaderAt) iter.Seq2[batch.Entry, error] {
	return func(yield func(batch.Entry, error) bool) {
		for l, err := range scan(whole(file), s.lineLimit()) {
			var entry batch.Entry
			if err == nil {
				entry, err = s.read(l)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

func whole(file io.ReaderAt) io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) }
