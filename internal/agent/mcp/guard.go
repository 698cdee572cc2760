package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// guard refuses requests that no client of the protocol sends on purpose.
type guard struct {
	// local means that the server listens on a loopback address.
	local  bool
	token  *Token
	next   http.Handler
	logger *slog.Logger
}

// ServeHTTP passes on what is allowed.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if problem := g.foreign(r); problem != "" {
		g.refuse(w, r, http.StatusForbidden, problem)
		return
	}
	if g.token != nil && !g.token.borneBy(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		g.refuse(w, r, http.StatusUnauthorized, "this server wants its bearer token")
		return
	}
	if status, problem := readBody(w, r); problem != "" {
		g.refuse(w, r, status, problem)
		return
	}
	g.next.ServeHTTP(w, r)
}

func (g *guard) refuse(w http.ResponseWriter, r *http.Request, status int, problem string) {
	g.logger.Warn("request refused", "client", r.RemoteAddr, "status", status, "reason", problem)
	http.Error(w, problem, status)
}

// foreign tells what is wrong with where a request comes from. A page in a browser of this machine can
// reach a loopback address: directly, which Origin and Sec-Fetch-Site give away, or under a name of its own that it lets
// point here, which Host does.
func (g *guard) foreign(r *http.Request) string {
	if g.local && !isLoopbackName(r.Host) {
		return fmt.Sprintf("host %q is not this machine's", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		if from, err := url.Parse(origin); err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host) {
			return fmt.Sprintf("origin %q is not this server's", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return fmt.Sprintf("a page of another site sent this (Sec-Fetch-Site: %q)", site)
	}
	return ""
}

// isLoopbackName tells whether a Host header, with or without a port, can only mean this machine.
func isLoopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// readBody reads a body in bounded time and size. The time must not go on to run while the call does, since its end
// would end the request.
func readBody(w http.ResponseWriter, r *http.Request) (status int, problem string) {
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // every real connection has one
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may have %d bytes", large.Limit)
	}
	if err != nil {
		return http.StatusBadRequest, "the request did not arrive whole"
	}
	_ = deadline.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return 0, ""
}
