package testenv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// RedisServer starts a redis-server for this test alone, with nothing written to disk, on a
// free port of the loopback interface, and returns its host:port once it answers. It is
// stopped in the test's clean-up, and by the kernel if the test process dies.
func RedisServer(t testing.TB, args ...string) string {
	t.Helper()
	return StartRedis(t, args...).Addr
}

// Redis is a redis-server that a test can end and start again on the same port and folder.
type Redis struct {
	// Addr is host:port.
	Addr string

	path     string
	args     []string
	patience time.Duration // for its first answer
	process  *exec.Cmd
	log      bytes.Buffer
	ended    chan struct{}
}

// StartRedis is RedisServer for tests that end the server on the way. Arguments can have it write to
// its folder (--appendonly yes), which a server that is started again reads.
func StartRedis(t testing.TB, args ...string) *Redis {
	t.Helper()
	return startRedis(t, freePort, args)
}

// startRedis starts a server on a port that choose finds.
func startRedis(t testing.TB, choose func() (int, error), args []string) *Redis {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "redis-server is not installed: run scripts/setup.sh redis")
	}
	var problem error
	for range 3 { // a port that was free can be taken before Redis binds it
		var port int
		if port, problem = choose(); problem != nil {
			continue
		}
		r := &Redis{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), path: path, patience: Scale(t, 15*time.Second), args: append([]string{
			"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", t.TempDir(),
			"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--daemonize", "no",
		}, args...)}
		if problem = r.start(); problem == nil {
			t.Cleanup(func() { r.End(syscall.SIGKILL) })
			return r
		}
	}
	t.Fatalf("redis-server: %v", problem)
	return nil
}

// Start starts a server that End has ended and returns once it answers.
func (r *Redis) Start(t testing.TB) {
	t.Helper()
	if err := r.start(); err != nil {
		t.Fatalf("redis-server: %v", err)
	}
}

// Signal sends the server a signal and returns at once. SIGSTOP freezes it until SIGCONT.
func (r *Redis) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := r.process.Process.Signal(signal); err != nil {
		t.Fatalf("signal %s to redis-server at %s: %v", signal, r.Addr, err)
	}
}

// End sends the server a signal that ends it and returns once it has ended. SIGTERM lets it write
// what it has not written yet.
func (r *Redis) End(signal syscall.Signal) {
	_ = r.process.Process.Signal(signal)
	<-r.ended
}

func (r *Redis) start() error {
	r.log.Reset()
	r.process = exec.Command(r.path, r.args...) //nolint:gosec,noctx // ended in Cleanup
	r.process.Stdout, r.process.Stderr = &r.log, &r.log
	r.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.process.Start(); err != nil {
		return err
	}
	r.ended = make(chan struct{})
	go func(process *exec.Cmd, ended chan<- struct{}) { _ = process.Wait(); close(ended) }(r.process, r.ended)
	deadline := time.Now().Add(r.patience)
	for !answersPing(r.Addr) {
		select {
		case <-r.ended:
			return fmt.Errorf("ended before it answered on %s:\n%s", r.Addr, r.log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			r.End(syscall.SIGKILL)
			return fmt.Errorf("no answer on %s within %s:\n%s", r.Addr, r.patience, r.log.String())
		}
	}
	return nil
}

// answersPing tells whether a Redis server is ready. One that wants a password counts.
func answersPing(addr string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	answer := make([]byte, 64)
	n, _ := conn.Read(answer)
	return bytes.HasPrefix(answer[:n], []byte("+PONG")) || bytes.HasPrefix(answer[:n], []byte("-NOAUTH"))
}

func freePort() (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
