// Package wiretest is a model provider for the tests of adapters: it answers with recorded shapes and keeps what it
// was asked.
//
// Its one invariant: every request gets the reply that is next in order, and one too many fails the test. For tests alone.
package wiretest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Reply is what the server answers to one request.
type Reply struct {
	// Status is 200 if 0.
	Status int
	// Header is added to a Content-Type that follows from the status: a stream of events, or JSON.
	Header map[string]string
	// File is the name of a file with the body; Body is the body if there is none.
	File string
	Body string
	// Until cuts the connection before the first occurrence of this text in the body.
	Until string
	// Echo puts the request's headers into the body, in the place of ECHO.
	Echo bool
	// Hold leaves the connection open after the body until the client goes away.
	Hold bool
}

// Request is what the server was asked.
type Request struct {
	Path   string
	Header http.Header
	Body   string
}

// Server is a provider on a port of this machine.
type Server struct {
	*httptest.Server
	t       testing.TB
	replies []Reply

	mu       sync.Mutex
	requests []Request
}

// Serve starts a server that lives as long as the test.
func Serve(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s := &Server{t: t, replies: replies}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// RequireBody compares the body of the request of a number, from 0, with the JSON in a file.
func (s *Server) RequireBody(number int, file string) {
	s.t.Helper()
	requests := s.Requests()
	require.Greater(s.t, len(requests), number)
	golden, err := os.ReadFile(file) //nolint:gosec // the path is the test's own
	require.NoError(s.t, err)
	require.JSONEq(s.t, string(golden), requests[number].Body)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read request: %v", err)
	}
	s.mu.Lock()
	number := len(s.requests)
	s.requests = append(s.requests, Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)})
	s.mu.Unlock()
	if number >= len(s.replies) {
		s.t.Errorf("request %d has no reply", number)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	s.replies[number].send(s.t, w, r)
}

func (reply Reply) send(t testing.TB, w http.ResponseWriter, r *http.Request) {
	body := reply.Body
	if reply.File != "" {
		content, err := os.ReadFile(reply.File)
		if err != nil {
			t.Errorf("read reply: %v", err)
		}
		body = string(content)
	}
	if reply.Echo {
		var headers strings.Builder
		_ = r.Header.Write(&headers)
		body = strings.ReplaceAll(body, "ECHO", strings.Join(strings.Fields(headers.String()), " "))
	}
	if reply.Until != "" {
		var found bool
		if body, _, found = strings.Cut(body, reply.Until); !found {
			t.Errorf("the reply has no %q", reply.Until)
		}
	}
	reply.writeHead(w)
	writeSlowly(w, body)
	if reply.Hold {
		<-r.Context().Done()
	}
	if reply.Until != "" {
		panic(http.ErrAbortHandler)
	}
}

func (reply Reply) writeHead(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if reply.Status != 0 && reply.Status != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	_ = http.NewResponseController(w).Flush()
}

// writeSlowly sends byte after byte, so that no client can rely on where a network cuts.
func writeSlowly(w http.ResponseWriter, body string) {
	for i := range len(body) {
		if _, err := io.WriteString(w, body[i:i+1]); err != nil {
			return // the client has gone
		}
		_ = http.NewResponseController(w).Flush()
	}
}
