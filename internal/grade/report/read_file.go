package report

import (
	"fmt"
	"io"
	"iter"
	"os"
)

// ReadFile is [Read] for a file that is opened anew each time the sequence is ranged over. Where a
// file ends for the first time it ends every time, so that a batch that still runs looks the same twice.
func ReadFile(path string) iter.Seq2[Item, error] {
	size := int64(-1)
	return func(yield func(Item, error) bool) {
		file, err := os.Open(path) //nolint:gosec // the caller's own file
		if err != nil {
			yield(Item{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			yield(Item{}, err)
			return
		}
		in := io.Reader(file)
		if info.Mode().IsRegular() { // the size of a pipe says nothing
			if size < 0 {
				size = info.Size()
			}
			in = io.LimitReader(file, size)
		}
		for item, err := range Read(in) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}
