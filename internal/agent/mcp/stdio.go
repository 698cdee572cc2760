package mcp

import (
	"context"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves one client that writes to stdin and reads from stdout, until it closes stdin or ctx ends. Calls that still
// run are canceled then and not answered, and Stdio returns when the tools are closed. It closes stdin.
func (s *Server) Stdio(ctx context.Context, stdin io.ReadCloser, stdout io.Writer) error {
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), &sdk.IOTransport{Reader: stdin, Writer: keepOpen{stdout}}, nil)
	if err != nil {
		return fmt.Errorf("serve stdin: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		close(s.closing)
		_ = session.Close()
	})
	err = session.Wait()
	if !stop() {
		err = nil // we ended it ourselves
	}
	s.open.Wait()
	if err != nil {
		return fmt.Errorf("serve stdin: %w", err)
	}
	return nil
}

// keepOpen leaves the closing of stdout to whoever opened it.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
