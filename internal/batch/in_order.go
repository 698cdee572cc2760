package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"

	"github.com/sandloop/sandloop/internal/grade/report"
)

var hashSeed = maphash.MakeSeed()

// fingerprint is never 0.
func fingerprint(id, key string) uint64 {
	return max(1, maphash.String(hashSeed, id+"\x00"+key))
}

// inOrder reads a results file twice: once to find the last line of each entry, and then those lines.
func inOrder(path string) iter.Seq2[report.Item, error] {
	return func(yield func(report.Item, error) bool) {
		file, err := os.Open(path) //nolint:gosec // the caller's own file
		if err != nil {
			yield(report.Item{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		places, err := lastLines(file)
		if err != nil {
			yield(report.Item{}, fmt.Errorf("%s: %w", path, err))
			return
		}
		for _, place := range places {
			if place == 0 {
				continue
			}
			item, err := itemAt(file, place-1)
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// lastLines returns for each index 1 more than the offset of its last line, and 0 where there is none.
func lastLines(file io.Reader) (places []int64, err error) {
	in := bufio.NewReaderSize(file, 64<<10)
	for offset := int64(0); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what has no line feed is not whole
			return places, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var head struct{ Index int }
			if err := json.Unmarshal(line, &head); err != nil {
				return nil, fmt.Errorf("byte %d: %w", offset, err)
			}
			if err := checkIndex(head.Index); err != nil {
				return nil, fmt.Errorf("byte %d: %w", offset, err)
			}
			for len(places) <= head.Index {
				places = append(places, 0)
			}
			places[head.Index] = offset + 1
		}
		offset += int64(len(line))
	}
}

// maxIndex keeps a number that is no index from taking all memory.
const maxIndex = 1 << 28

func checkIndex(index int) error {
	if index < 0 || index > maxIndex {
		return fmt.Errorf("index: %d: want 0 to %d", index, maxIndex)
	}
	return nil
}

func itemAt(file *os.File, offset int64) (item report.Item, err error) {
	section := io.NewSectionReader(file, offset, 1<<62)
	line, err := bufio.NewReaderSize(section, 8<<10).ReadBytes('\n')
	if err != nil {
		return item, err
	}
	if err := json.Unmarshal(line, &item); err != nil {
		return item, fmt.Errorf("byte %d: %w", offset, err)
	}
	return item, nil
}
