package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// openBatch opens a batch that is read twice: what cannot be, such as standard input, is copied to a
// temporary file that has no name. The caller closes it.
func (a *app) openBatch(ctx context.Context, name string) (*os.File, error) {
	if name == "-" {
		return spool(ctx, a.stdin)
	}
	file, err := os.Open(name) //nolint:gosec // the user's own file
	if err != nil {
		return nil, usageError(err)
	}
	info, err := file.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return file, nil
	case err == nil && info.IsDir():
		err = usagef("%s: is a folder: want a file with a JSON object a line", name)
	case err == nil:
		var copied *os.File
		copied, err = spool(ctx, file)
		_ = file.Close()
		return copied, err
	}
	_ = file.Close()
	return nil, err
}

// spool copies what can be read once. It gives up when ctx ends, since a terminal or a pipe
// may take for ever.
func spool(ctx context.Context, from io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "enqueue-batch-*.jsonl")
	if err != nil {
		return nil, err
	}
	unnamed := os.Remove(file.Name()) // gone with us, however we end
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, from)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil, fmt.Errorf("read the batch: %w", ctx.Err()) // the copy still writes to file
	}
	if err := errors.Join(err, unnamed); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("read the batch: %w", err)
	}
	return file, nil
}
