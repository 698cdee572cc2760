package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where HTTP serves the protocol.
const Path = "/mcp"

// Bounds on what a client may cost before its request is known to be good. Answers have no bound: they are streams that last
// as long as calls do.
const (
	headerTime  = 10 * time.Second
	bodyTime    = time.Minute
	headerLimit = 64 << 10
	bodyLimit   = 16 << 20
	keepAlive   = 2 * time.Minute
	// grace is how long clients have at shutdown to fetch the results of their canceled calls.
	grace = 5 * time.Second
)

// HTTP serves clients over streamable HTTP at Path until ctx ends. Then it cancels what still runs, lets clients
// fetch the results and returns when the tools are closed. token, if not nil, is what every request must bear; without
// one it refuses to serve on anything but a loopback address. It closes the listener.
func (s *Server) HTTP(ctx context.Context, listener net.Listener, token *Token) error {
	if err := CheckAddress(listener.Addr(), token); err != nil {
		_ = listener.Close()
		return err
	}
	local := isLoopback(listener.Addr())
	server := &http.Server{
		Handler: s.handler(local, token), ReadHeaderTimeout: headerTime, IdleTimeout: keepAlive, MaxHeaderBytes: headerLimit,
		// A request must outlive ctx to bring the result of its canceled call.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var err error
	select {
	case err = <-served: // the listener broke
	case <-ctx.Done():
	}
	s.shutdown(ctx, server)
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return nil
}

func (s *Server) shutdown(ctx context.Context, server *http.Server) {
	close(s.closing)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	server.RegisterOnShutdown(func() {
		s.posts.drain(ctx) // a session that closes answers no more
		s.closeSessions()  // and so ends the streams that Shutdown waits for
	})
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
	s.closeSessions() // also those that began meanwhile
	s.open.Wait()
}

// handler checks requests before the SDK sees them.
func (s *Server) handler(local bool, token *Token) http.Handler {
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		SessionTimeout: s.options.IdleTime,
		// Both are checked by guard, for every address.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: bodyLimit,
	})
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			defer s.posts.add(r)()
		case http.MethodDelete:
			s.abandon(r.Header.Get("Mcp-Session-Id")) // or the SDK waits for its calls
		}
		streams.ServeHTTP(w, r)
	})
	return &guard{local: local, token: token, next: mux, logger: s.options.Logger}
}

// CheckAddress refuses to serve without a token, which may be nil, where others than this machine can reach it.
func CheckAddress(address net.Addr, token *Token) error {
	if token == nil && !isLoopback(address) {
		return fmt.Errorf("serve %s: an address that others can reach needs a token", address)
	}
	return nil
}

// isLoopback tells whether only this machine can reach an address.
func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
