package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Writer writes a results file. One goroutine may use it at a time.
type Writer struct{ w io.Writer }

// NewWriter returns a writer of lines to w, which gets each of them in one call: buffer, flush
// and sync are the caller's. A file that was interrupted is to be mended first; see [Mend].
func NewWriter(w io.Writer) *Writer { return &Writer{w} }

// Write writes an item and a line feed. The item's scores must not be NaN or infinite.
func (w *Writer) Write(item Item) error {
	line, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encode item %d %q: %w", item.Index, item.ID, err)
	}
	_, err = w.w.Write(append(line, '\n'))
	return err
}

// Mend makes a results file ready for more lines: it cuts off what stands after the last line
// feed, the item of which is then to be judged again, and sets the position to the end. The file must
// be open for reading and writing. It returns how many bytes were cut off. A file that does not begin as a results
// file does is an error instead, since somebody may have named the wrong one.
func Mend(file *os.File) (cut int64, err error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	end, err := afterLastLineFeed(file, size)
	if err != nil {
		return 0, err
	}
	if end < size {
		if err = checkBeginning(file, size); err != nil {
			return 0, err
		}
		if err = file.Truncate(end); err != nil {
			return 0, err
		}
	}
	_, err = file.Seek(end, io.SeekStart)
	return size - end, err
}

// beginning is how the first line of every results file begins.
const beginning = `{"index"`

func checkBeginning(r io.ReaderAt, size int64) error {
	first := make([]byte, min(size, int64(len(beginning))))
	if _, err := r.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !strings.HasPrefix(beginning, string(first)) {
		return fmt.Errorf("begins with %q, so this is no results file: want %q", first, beginning)
	}
	return nil
}

// afterLastLineFeed looks backwards from size, piece by piece.
func afterLastLineFeed(r io.ReaderAt, size int64) (int64, error) {
	piece := make([]byte, 64<<10)
	for end := size; end > 0; {
		start := max(0, end-int64(len(piece)))
		n, err := r.ReadAt(piece[:end-start], start)
		if int64(n) < end-start {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if piece[i] == '\n' {
				return start + int64(i) + 1, nil
			}
		}
		end = start
	}
	return 0, nil
}
