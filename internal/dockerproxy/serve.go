package dockerproxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Listen makes the socket at path, which only its owner and group may use. One that is left there of a proxy that died is replaced.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is there and no socket", path)
	default:
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
			_ = conn.Close()
			return nil, fmt.Errorf("%s is served by another process", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil { //nolint:gosec // the group is who may use it
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Serve answers until ctx ends, and closes the listener and all connections. Streams that are open then break, which ends the sandboxes at their other end.
func (p *Proxy) Serve(ctx context.Context, listener net.Listener) error {
	// net/http goes on for half a second with a connection whose request it did not read to the end.
	var connections sync.WaitGroup
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state { //nolint:exhaustive // a connection begins and ends once
			case http.StateNew:
				connections.Add(1)
			case http.StateHijacked, http.StateClosed:
				connections.Done()
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	defer func() {
		_ = server.Close()
		connections.Wait()
	}()
	defer p.upstream.CloseIdleConnections()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve docker-proxy: %w", err)
	}
	return nil
}
