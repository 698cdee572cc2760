package egress

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Job is a job whose program may use the proxy.
type Job struct {
	// Job and Tenant are for the log.
	Job    string `json:"job"`
	Tenant string `json:"tenant"`
	// Token is the password that the program has for the proxy.
	Token string `json:"token"`
	// Rule is the name of the proxy's rule that says what it may reach.
	Rule string `json:"rule"`
	// Sent and Received are the bytes that it has used up of the rule's, in containers before.
	Sent     int64 `json:"sent,omitempty"`
	Received int64 `json:"received,omitempty"`
}

// reportedConnections is how many of a job's connections are told one by one; those after them are counted.
const reportedConnections = 100

var (
	errBytes = errors.New("byte limit")
	errEnded = errors.New("the job has ended")
)

// client is a job while it may use the proxy.
type client struct {
	Job
	rule Rule
	// ctx is the job's lifetime, within which requests come and go.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// running counts requests; none is added once ctx has ended.
	running sync.WaitGroup

	mu             sync.Mutex
	ended          bool
	open           int
	sent, received int64
	use            sandbox.NetworkUse
}

func newClient(job Job, rule Rule) *client {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &client{Job: job, rule: rule, ctx: ctx, cancel: cancel, sent: job.Sent, received: job.Received}
}

func (c *client) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(c.Token), []byte(token)) == 1
}

// begin counts a request in, unless the job has ended.
func (c *client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.running.Add(1)
	return true
}

// enter counts a connection in. The error is that the job has too many, or has used up its bytes.
func (c *client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open >= c.rule.MaxConnections:
		return fmt.Errorf("%d connections are open: more are not allowed (%s.max_connections)", c.open, c.rule.Name)
	case c.sent >= c.rule.MaxBytes || c.received >= c.rule.MaxBytes:
		return c.bytesError()
	}
	c.open++
	return nil
}

func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

func (c *client) bytesError() error {
	return fmt.Errorf("%w: a job may send and receive %d bytes each (%s.max_bytes)", errBytes, c.rule.MaxBytes, c.rule.Name)
}

// spend adds to one of the totals of a job, sent or received. The error is that it went over the limit.
func (c *client) spend(total *int64, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*total += int64(n)
	if *total > c.rule.MaxBytes {
		return c.bytesError()
	}
	return nil
}

// note keeps what became of a connection and reports whether it is among those that are told one by one.
func (c *client) note(made sandbox.Connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.use.Sent += made.Sent
	c.use.Received += made.Received
	if made.Verdict == sandbox.ConnectionRefused {
		c.use.Refused++
	}
	if len(c.use.Connections) == reportedConnections {
		c.use.More++
		return false
	}
	c.use.Connections = append(c.use.Connections, made)
	return true
}

// end cuts all connections of the job and returns what it did, once that is all.
func (c *client) end() sandbox.NetworkUse {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.cancel(errEnded)
	c.running.Wait()
	return c.use
}

// metered counts what passes through a connection to a server, and cuts it at the limits of its job.
type metered struct {
	net.Conn
	client *client
	// stop ends the connection at once.
	stop context.CancelCauseFunc

	mu             sync.Mutex
	sent, received int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if over := m.client.spend(&m.client.received, n); over != nil {
		m.stop(over)
		return 0, over
	}
	m.mu.Lock()
	m.received += int64(n)
	m.mu.Unlock()
	return n, err
}

// Write counts before it writes, so that no byte beyond the limit leaves, and none is missing where the answer is faster than its return.
func (m *metered) Write(p []byte) (int, error) {
	if over := m.client.spend(&m.client.sent, len(p)); over != nil {
		m.stop(over)
		return 0, over
	}
	m.addSent(len(p))
	n, err := m.Conn.Write(p)
	m.addSent(n - len(p))
	return n, err
}

func (m *metered) addSent(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent += int64(n)
}

// connection is what became of a connection; cause is what cut it, or nil.
func (m *metered) connection(t target, cause error) sandbox.Connection {
	m.mu.Lock()
	defer m.mu.Unlock()
	made := sandbox.Connection{Host: t.host, Port: t.port, Verdict: sandbox.ConnectionAllowed, Sent: m.sent, Received: m.received}
	if cause != nil {
		made.Reason = cause.Error()
	}
	if errors.Is(cause, errBytes) {
		made.Verdict = sandbox.ConnectionRefused
	}
	return made
}

// closeWrite tells the server that nothing more comes.
func (m *metered) closeWrite() {
	if half, ok := m.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// seconds is the time since a moment.
func seconds(since time.Time) sandbox.Seconds { return sandbox.Seconds(time.Since(since)) }
