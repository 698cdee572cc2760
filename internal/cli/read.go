package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge means that a file has more bytes than its reader wants.
var ErrTooLarge = errors.New("too large")

// Read reads a file or, for -, stdin, and refuses more than limit bytes with ErrTooLarge. Of a
// terminal or a FIFO that may take for ever, so it gives up when ctx ends. Other errors are the user's to mend.
func Read(ctx context.Context, name string, stdin io.Reader, limit int64) ([]byte, error) {
	type content struct {
		data []byte
		err  error
	}
	done := make(chan content, 1)
	go func() {
		data, err := readAll(name, stdin, limit)
		done <- content{data, err}
	}()
	select {
	case c := <-done:
		return c.data, c.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", name, ctx.Err())
	}
}

func readAll(name string, from io.Reader, limit int64) (data []byte, err error) {
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user's own file
		if err != nil {
			return nil, UsageError(err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	data, err = io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, Usagef("read %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, Usagef("%s: %w", name, ErrTooLarge)
	}
	return data, nil
}
