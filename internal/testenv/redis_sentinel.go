package testenv

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// SentinelMaster is the name by which the sentinels of RedisSentinel know their master.
const SentinelMaster = "main"

// RedisSentinel is a master and its replica of a test's own, watched by three sentinels, of which two decide.
type RedisSentinel struct {
	// Master and Replica are what the servers were in the beginning.
	Master, Replica *Redis

	sentinels []*Redis
}

// StartRedisSentinel starts the five servers and returns once all know each other and the replica has the
// master's data. A master that does not answer for 3 s is replaced. The arguments are for master and replica.
func StartRedisSentinel(t testing.TB, args ...string) *RedisSentinel {
	t.Helper()
	args = append([]string{"--repl-diskless-sync-delay", "0"}, args...)
	s := &RedisSentinel{Master: StartRedis(t, args...)}
	host, port, err := net.SplitHostPort(s.Master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	s.Replica = StartRedis(t, append(args, "--replicaof", host, port)...)
	waitFor(t, "replica at "+s.Replica.Addr, func() error {
		info, err := ask(s.Replica.Addr, "INFO", "replication")
		if err == nil && !strings.Contains(info, "master_link_status:up") {
			err = fmt.Errorf("it has not its master's data yet:\n%s", info)
		}
		return err
	})
	for range 3 {
		s.sentinels = append(s.sentinels, startSentinel(t, s.Master))
	}
	for _, sentinel := range s.sentinels {
		waitFor(t, "sentinel at "+sentinel.Addr, func() error {
			info, err := ask(sentinel.Addr, "INFO", "sentinel")
			if err == nil && !strings.Contains(info, "status=ok,address="+s.Master.Addr+",slaves=1,sentinels=3") {
				err = fmt.Errorf("it does not know all servers:\n%s", info)
			}
			return err
		})
	}
	return s
}

// Addrs are the addresses of the sentinels with commas between them.
func (s *RedisSentinel) Addrs() string {
	addrs := make([]string, len(s.sentinels))
	for i, sentinel := range s.sentinels {
		addrs[i] = sentinel.Addr
	}
	return strings.Join(addrs, ",")
}

// startSentinel starts a sentinel with a file of its own, since it writes there what it learns.
func startSentinel(t testing.TB, master *Redis) *Redis {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	var problem error
	for range 3 { // as for any server
		own, err := freePort()
		if err != nil {
			problem = err
			continue
		}
		lines := []string{
			"bind 127.0.0.1", "port " + strconv.Itoa(own),
			fmt.Sprintf("sentinel monitor %s %s %s 2", SentinelMaster, host, port),
			"sentinel down-after-milliseconds " + SentinelMaster + " 3000",
			"sentinel failover-timeout " + SentinelMaster + " 10000",
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &Redis{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(own)), path: master.path, patience: master.patience, args: []string{file, "--sentinel"}}
		if problem = r.start(); problem == nil {
			t.Cleanup(func() { r.End(syscall.SIGKILL) })
			return r
		}
	}
	t.Fatalf("sentinel: %v", problem)
	return nil
}
