package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandloop/sandloop/internal/agent"
)

// Why a call was canceled that the client did not cancel itself.
var (
	errGone    = errors.New("the client is gone")
	errClosing = errors.New("the server shuts down")
)

// connection is a client's, from its first call to its end.
type connection struct {
	// gone is closed when the client ends the connection, before its calls are waited for.
	gone func()
	done <-chan struct{}

	// mu guards the tools, which are nil before they are open.
	mu         sync.Mutex
	tools      agent.Tools
	closeTools func()
}

// connection returns what belongs to a session of the SDK.
func (s *Server) connection(session *sdk.ServerSession) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connections[session]
	if c == nil {
		done := make(chan struct{})
		c = &connection{done: done, gone: sync.OnceFunc(func() { close(done) })}
		s.connections[session] = c
		s.open.Go(func() {
			_ = session.Wait() // returns after the last call has
			s.forget(session, c)
		})
	}
	return c
}

func (s *Server) forget(session *sdk.ServerSession, c *connection) {
	s.mu.Lock()
	delete(s.connections, session)
	s.mu.Unlock()
	c.gone()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closeTools != nil {
		c.closeTools()
		s.options.Logger.Info("connection closed")
	}
}

// abandon cancels the calls of a session over HTTP which its client is about to delete.
func (s *Server) abandon(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, c := range s.connections {
		if session.ID() == id {
			c.gone()
		}
	}
}

// opened returns the connection's tools. One that could not open them tries again at its next call.
func (s *Server) opened(ctx context.Context, c *connection) (agent.Tools, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tools != nil {
		return c.tools, nil
	}
	tools, closeTools, err := s.options.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a workspace: %w", err)
	}
	c.tools, c.closeTools = tools, closeTools
	s.options.Logger.Info("connection opened")
	return tools, nil
}

// bound returns a context that also ends with the connection, the HTTP request of the call and the server. The caller
// calls release.
func (s *Server) bound(ctx context.Context, c *connection, post <-chan struct{}) (bound context.Context, release func()) {
	bound, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-bound.Done():
		case <-c.done:
			cancel(errGone)
		case <-post:
			cancel(errGone)
		case <-s.closing:
			cancel(errClosing)
		}
	}()
	return bound, func() { cancel(nil) }
}
