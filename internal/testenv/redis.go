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
	path, err := exec.LookPath("redis-server")
	if err != nil {
		missing(t, "redis-server is not installed: run scripts/setup.sh redis")
	}
	var problem error
	for range 3 { // a port that was free can be taken before Redis binds it
		var addr string
		if addr, problem = startRedis(t, path, args); problem == nil {
			return addr
		}
	}
	t.Fatalf("redis-server: %v", problem)
	return ""
}

func startRedis(t testing.TB, path string, args []string) (string, error) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		return "", err
	}
	args = append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--daemonize", "no",
	}, args...)
	var log bytes.Buffer
	server := exec.Command(path, args...) //nolint:gosec,noctx // ended in Cleanup
	server.Stdout, server.Stderr = &log, &log
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() { _ = server.Wait(); close(ended) }()
	stop := func() { _ = server.Process.Kill(); <-ended }

	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	deadline := time.Now().Add(15 * time.Second)
	for !answersPing(addr) {
		select {
		case <-ended:
			return "", fmt.Errorf("ended before it answered on %s:\n%s", addr, log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			stop()
			return "", fmt.Errorf("no answer on %s within 15 s:\n%s", addr, log.String())
		}
	}
	t.Cleanup(stop)
	return addr, nil
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
