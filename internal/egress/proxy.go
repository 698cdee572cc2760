package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// headerTimeout bounds the time that a request may take to come, and idleTimeout that between two on one connection.
	headerTimeout = 10 * time.Second
	idleTimeout   = 30 * time.Second
	// maxHeader bounds the head of a request in bytes.
	maxHeader = 32 << 10
	// socketsPerJob bounds the connections to the proxy of one job, whatever they ask for. More are closed at once.
	socketsPerJob = 2 * MostConnections
)

// Proxy serves jobs, each at a local address of its own. It is safe for concurrent use.
type Proxy struct {
	network Network
	// rules are by their names.
	rules map[string]Rule
	// report is told of the connections of a job as they end.
	report func(Job, sandbox.Connection)

	mu      sync.Mutex
	clients map[netip.Addr]*client
	sockets map[netip.Addr]int
}

// New makes a proxy that nobody may use yet, and that lets nobody reach more than one of the rules allows. report is called from many goroutines with
// the connections of jobs as they end, the first hundred of each.
func New(network Network, rules []Rule, report func(Job, sandbox.Connection)) *Proxy {
	p := &Proxy{network: network.withDefaults(), rules: map[string]Rule{}, report: report, clients: map[netip.Addr]*client{}, sockets: map[netip.Addr]int{}}
	for _, rule := range rules {
		p.rules[rule.Name] = rule
	}
	return p
}

// Open lets a job use the proxy at one of its local addresses, in place of any other. The error is that the proxy has no such rule.
func (p *Proxy) Open(at netip.Addr, job Job) error {
	p.Close(at)
	rule, ok := p.rules[job.Rule]
	if !ok {
		return fmt.Errorf("the proxy has no rule %q", job.Rule)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[at] = newClient(job, rule)
	return nil
}

// Close ends the use at an address, cuts what is connected there and returns what was done. None is an empty use.
func (p *Proxy) Close(at netip.Addr) sandbox.NetworkUse {
	p.mu.Lock()
	c := p.clients[at]
	delete(p.clients, at)
	p.mu.Unlock()
	if c == nil {
		return sandbox.NetworkUse{}
	}
	return c.end()
}

func (p *Proxy) clientAt(at netip.Addr) *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clients[at]
}

// Serve serves a listener until ctx ends, and then cuts all connections.
func (p *Proxy) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnState: p.countSocket, DisableGeneralOptionsHandler: true,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // what programs send amiss is no trouble of ours
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	err := server.Serve(listener)
	p.mu.Lock()
	ats := make([]netip.Addr, 0, len(p.clients))
	for at := range p.clients {
		ats = append(ats, at)
	}
	p.mu.Unlock()
	for _, at := range ats {
		p.Close(at)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// countSocket closes what is too much for one job or comes to an address that no job has, before anything is read of it.
func (p *Proxy) countSocket(conn net.Conn, state http.ConnState) {
	at := localAddr(conn.LocalAddr())
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.sockets[at]++
		if p.sockets[at] > socketsPerJob || p.clients[at] == nil {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		if p.sockets[at]--; p.sockets[at] == 0 {
			delete(p.sockets, at)
		}
	case http.StateActive, http.StateIdle:
	}
}

func localAddr(addr net.Addr) netip.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// ServeHTTP serves one request of a program.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	c := p.clientAt(localAddr(local))
	if c == nil || !c.begin() {
		answer(w, r, http.StatusForbidden, errEnded)
		return
	}
	defer c.running.Done()
	begun := time.Now()
	if !c.knows(passwordIn(r.Header.Get("Proxy-Authorization"))) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="sandloop"`)
		p.refuse(w, r, c, target{}, begun, http.StatusProxyAuthRequired, errors.New("want the user and password that HTTPS_PROXY has"))
		return
	}
	t, err := targetOf(r)
	if err == nil {
		err = c.rule.checkTarget(t)
	}
	if err == nil {
		err = c.enter()
	}
	if err != nil {
		p.refuse(w, r, c, t, begun, http.StatusForbidden, err)
		return
	}
	defer c.leave()
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.rule.Timeout, timeoutError(c.rule))
	defer cancel()
	p.pass(ctx, w, r, c, t, begun) //nolint:contextcheck // a connection lives as long as its job and not as its request
}

// pass connects a program to where it wants.
func (p *Proxy) pass(ctx context.Context, w http.ResponseWriter, r *http.Request, c *client, t target, begun time.Time) {
	conn, err := p.network.connect(ctx, c.rule, t)
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		p.refuse(w, r, c, t, begun, http.StatusForbidden, err)
		return
	case err != nil:
		p.done(c, sandbox.Connection{Host: t.host, Port: t.port, Verdict: sandbox.ConnectionFailed, Reason: err.Error(), Duration: seconds(begun)})
		answer(w, r, http.StatusBadGateway, err)
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	m := &metered{Conn: conn, client: c, stop: stop}
	defer func() { // also when ReverseProxy panics to cut an answer that has begun
		_ = conn.Close()
		made := m.connection(t, context.Cause(ctx))
		made.Duration = seconds(begun)
		stop(nil)
		p.done(c, made)
	}()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if r.Method == http.MethodConnect {
		tunnel(ctx, w, m)
	} else {
		forward(ctx, w, r, t, m)
	}
}

func (p *Proxy) done(c *client, made sandbox.Connection) {
	if c.note(made) {
		p.report(c.Job, made)
	}
}

// refuse answers a request that is against a rule, and notes it.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, c *client, t target, begun time.Time, status int, reason error) {
	p.done(c, sandbox.Connection{Host: t.host, Port: t.port, Verdict: sandbox.ConnectionRefused, Reason: reason.Error(), Duration: seconds(begun)})
	answer(w, r, status, reason)
}
