package faults

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
	"testing"
)

// Proxy stands before a server and does to its connections what networks do. It is safe for concurrent use.
type Proxy struct {
	// Addr is its own host:port.
	Addr string

	target   string
	listener net.Listener
	done     sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything below changes
	ended   bool
	cut     bool
	stalled bool
	pattern []byte
	replies bool
	held    int
	conns   map[net.Conn]struct{}
}

// StartProxy starts a proxy on a free port of the loopback interface. It is stopped when the test is over.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("proxy: %v", err)
	}
	p := &Proxy{
		Addr: listener.Addr().String(), target: target, listener: listener,
		changed: make(chan struct{}), conns: map[net.Conn]struct{}{},
	}
	p.done.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Cut breaks every connection and accepts none, as when the server's process is gone.
func (p *Proxy) Cut() {
	p.change(func() {
		p.cut = true
		p.breakAll()
	})
}

// Stall lets nothing pass in either direction and breaks nothing, as when a cable was pulled. New connections seem to be made.
func (p *Proxy) Stall() { p.change(func() { p.stalled = true }) }

// Hold keeps back every request that has the pattern, and what follows it on its connection. With replies it is the
// answer that is kept back: the server has done what it was asked for and nobody knows.
func (p *Proxy) Hold(pattern string, replies bool) {
	p.change(func() { p.pattern, p.replies, p.held = []byte(pattern), replies, 0 })
}

// Held tells how many requests or answers were kept back since Hold.
func (p *Proxy) Held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// Heal undoes all of it. What was kept back and is still wanted is delivered.
func (p *Proxy) Heal() { p.change(func() { p.cut, p.stalled, p.pattern = false, false, nil }) }

func (p *Proxy) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// breakAll is called with mu held.
func (p *Proxy) breakAll() {
	for conn := range p.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, not an orderly end
		}
		_ = conn.Close()
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.change(func() {
		p.ended = true
		p.breakAll()
	})
	p.done.Wait()
}

// keep notes a connection, or closes it and reports false when there must be none.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.ended {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.conns, conn)
		_ = conn.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.keep(client) {
			continue
		}
		p.done.Go(func() { p.serve(client) })
	}
}

// serve joins a connection with one of its own to the server.
func (p *Proxy) serve(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		p.forget(client)
		return
	}
	if !p.keep(server) {
		p.forget(client)
		return
	}
	l := &link{proxy: p, gone: make(chan struct{})}
	var both sync.WaitGroup
	both.Go(func() { l.copy(server, client, true) })
	both.Go(func() { l.copy(client, server, false) })
	both.Wait()
	p.forget(client, server)
}

// link is a connection through the proxy.
type link struct {
	proxy *Proxy
	once  sync.Once
	gone  chan struct{} // closed when either side has ended

	mu     sync.Mutex
	caught bool // its request had the pattern whose answers are kept back
}

// copy passes on what comes, as the proxy's state allows, until either side ends.
func (l *link) copy(to, from net.Conn, isRequest bool) {
	defer l.once.Do(func() { close(l.gone); _ = to.Close(); _ = from.Close() })
	chunk, tail := make([]byte, 64<<10), []byte(nil)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			seen := slices.Concat(tail, chunk[:n])
			if !l.pass(seen, isRequest) {
				return
			}
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
			tail = seen[max(0, len(seen)-64):] // a pattern may come in two pieces
		}
		if err != nil {
			return
		}
	}
}

// pass waits until what came may go on. It reports false when the connection has ended meanwhile.
func (l *link) pass(seen []byte, isRequest bool) bool {
	counted := false
	for {
		free, isNew, changed := l.look(seen, isRequest, counted)
		if free {
			return true
		}
		counted = counted || isNew
		select {
		case <-changed:
		case <-l.gone:
			return false
		}
	}
}

// look tells whether bytes may pass now; if not, whether they were counted as held, and what to wait for.
func (l *link) look(seen []byte, isRequest, counted bool) (free, isNew bool, changed <-chan struct{}) {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.ended {
		return true, false, nil
	}
	matches := len(p.pattern) > 0 && isRequest && bytes.Contains(seen, p.pattern)
	if matches && p.replies {
		l.caught, matches = true, false
	}
	if len(p.pattern) == 0 {
		l.caught = false
	}
	holds := matches || (!isRequest && l.caught)
	if holds && !counted {
		p.held++
		isNew = true
	}
	return !holds && !p.stalled, isNew, p.changed
}
