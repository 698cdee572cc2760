package faults_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
)

// bound is how long a test waits for what must happen, quiet for what must not.
const (
	bound = 30 * time.Second
	quiet = 300 * time.Millisecond
)

// echo is a server that answers each line with itself, and counts what came.
type echo struct {
	addr  string
	lines chan string
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	e := &echo{listener.Addr().String(), make(chan string, 100)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					e.lines <- lines.Text()
					_, _ = io.WriteString(conn, lines.Text()+"\n")
				}
			}()
		}
	}()
	return e
}

// talker is a client with one connection.
type talker struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, addr string) *talker {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: bound}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &talker{t, conn, bufio.NewReader(conn)}
}

func (c *talker) say(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, line+"\n")
	require.NoError(c.t, err)
}

// hear reads a line, or the error after a time.
func (c *talker) hear(within time.Duration) (string, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(within))
	line, err := c.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

func (c *talker) requireHears(line string) {
	c.t.Helper()
	heard, err := c.hear(bound)
	require.NoError(c.t, err)
	require.Equal(c.t, line, heard)
}

func (c *talker) requireSilence() {
	c.t.Helper()
	_, err := c.hear(quiet)
	var timeout net.Error
	require.ErrorAs(c.t, err, &timeout)
	require.True(c.t, timeout.Timeout())
}

func TestProxyPassesWhatIsSaid(t *testing.T) {
	t.Parallel()
	client := dial(t, faults.StartProxy(t, startEcho(t).addr).Addr)
	for _, line := range []string{"a", strings.Repeat("b", 60_000)} {
		client.say(line)
		client.requireHears(line)
	}
}

func TestCutBreaksConnectionsUntilItIsHealed(t *testing.T) {
	t.Parallel()
	proxy := faults.StartProxy(t, startEcho(t).addr)
	before := dial(t, proxy.Addr)
	before.say("a")
	before.requireHears("a")
	proxy.Cut()
	_, err := before.hear(bound)
	require.Error(t, err)
	_, err = dial(t, proxy.Addr).hear(bound)
	require.Error(t, err)
	proxy.Heal()
	after := dial(t, proxy.Addr)
	after.say("b")
	after.requireHears("b")
}

func TestStallLosesNothing(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	proxy := faults.StartProxy(t, server.addr)
	before := dial(t, proxy.Addr)
	before.say("a")
	before.requireHears("a")
	proxy.Stall()
	before.say("b")
	before.say("c")
	later := dial(t, proxy.Addr)
	later.say("d")
	before.requireSilence()
	later.requireSilence()
	require.Len(t, server.lines, 1)
	proxy.Heal()
	before.requireHears("b")
	before.requireHears("c")
	later.requireHears("d")
}

func TestHoldKeepsBackRequestsWithAPattern(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	proxy := faults.StartProxy(t, server.addr)
	proxy.Hold("secret", false)
	client, other := dial(t, proxy.Addr), dial(t, proxy.Addr)
	client.say("plain")
	client.requireHears("plain")
	client.say("a secret word")
	require.Eventually(t, func() bool { return proxy.Held() == 1 }, bound, time.Millisecond)
	client.say("what follows")
	client.requireSilence()
	other.say("another's")
	other.requireHears("another's")
	require.Len(t, server.lines, 2)
	proxy.Heal()
	client.requireHears("a secret word")
	client.requireHears("what follows")
}

// What a client had sent before it died still arrives.
func TestAHeldRequestOutlivesItsClient(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	proxy := faults.StartProxy(t, server.addr)
	proxy.Hold("secret", false)
	client := dial(t, proxy.Addr)
	client.say("secret")
	require.Eventually(t, func() bool { return proxy.Held() == 1 }, bound, time.Millisecond)
	require.NoError(t, client.conn.Close())
	require.Empty(t, server.lines)
	proxy.Heal()
	require.Eventually(t, func() bool { return len(server.lines) == 1 }, bound, time.Millisecond)
}

func TestHoldKeepsBackAnswersToAPattern(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	proxy := faults.StartProxy(t, server.addr)
	proxy.Hold("secret", true)
	client := dial(t, proxy.Addr)
	client.say("plain")
	client.requireHears("plain")
	client.say("secret")
	require.Eventually(t, func() bool { return proxy.Held() == 1 && len(server.lines) == 2 }, bound, time.Millisecond, "the server has it")
	client.requireSilence()
	proxy.Heal()
	client.requireHears("secret")
}
