//go:build attack

package attack_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// host is what an attack could get at outside of its sandbox, with the means to tell whether it did.
type host struct {
	// token is in the file canary, which nothing in a sandbox may read or change.
	token, canary string
	// addresses are those of listeners that count who comes, and visits is the count.
	addresses []string
	visits    atomic.Int64
	// redis are the addresses of a server that has one key and one client.
	redis  []string
	client *redis.Client
	// container is the name of a container that nobody may create.
	container string
	// settings are the kernel's that containers share, and clock how far real time is from the time that no call can set.
	settings string
	clock    time.Duration
}

func newHost(t testing.TB) *host {
	t.Helper()
	h := &host{token: rand.Text(), container: "sandloop-attack-" + rand.Text()}
	h.canary = filepath.Join(t.TempDir(), "canary")
	require.NoError(t, os.WriteFile(h.canary, []byte(h.token), 0o644))
	h.listen(t)
	server := testenv.RedisServer(t, "--bind", "0.0.0.0", "--protected-mode", "no")
	h.client = redis.NewClient(&redis.Options{Addr: server, PoolSize: 1})
	t.Cleanup(func() { require.NoError(t, h.client.Close()) })
	require.NoError(t, h.client.Set(t.Context(), "canary", h.token, 0).Err())
	_, port, err := net.SplitHostPort(server)
	require.NoError(t, err)
	h.redis = append(h.redis, server)
	for _, ip := range hostIPs(t) {
		h.redis = append(h.redis, net.JoinHostPort(ip, port))
	}
	h.settings, h.clock = settings(t), clockOffset()
	return h
}

// hostIPs are the addresses of this machine but loopback.
func hostIPs(t testing.TB) (ips []string) {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, address := range all {
		if network, is := address.(*net.IPNet); is && !network.IP.IsLoopback() && !network.IP.IsLinkLocalUnicast() {
			ips = append(ips, network.IP.String())
		}
	}
	return ips
}

// listen opens a port for TCP and UDP on every interface, and an abstract socket.
func (h *host) listen(t testing.TB) {
	t.Helper()
	var listening net.ListenConfig
	tcp, err := listening.Listen(t.Context(), "tcp", ":0")
	require.NoError(t, err)
	port := strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
	udp, err := listening.ListenPacket(t.Context(), "udp", ":"+port)
	require.NoError(t, err)
	name := "@sandloop-attack-" + rand.Text()
	abstract, err := listening.Listen(t.Context(), "unix", name)
	require.NoError(t, err)
	var done []chan struct{}
	serve := func(receive func() error) {
		ended := make(chan struct{})
		done = append(done, ended)
		go func() {
			defer close(ended)
			for receive() == nil {
				h.visits.Add(1)
			}
		}()
	}
	for _, listener := range []net.Listener{tcp, abstract} {
		serve(func() error {
			conn, err := listener.Accept()
			if err == nil {
				err = conn.Close()
			}
			return err
		})
	}
	serve(func() error { _, _, err := udp.ReadFrom(make([]byte, 64)); return err })
	t.Cleanup(func() {
		require.NoError(t, tcp.Close())
		require.NoError(t, udp.Close())
		require.NoError(t, abstract.Close())
		for _, ended := range done {
			<-ended
		}
	})
	for _, ip := range append([]string{"127.0.0.1", "::1"}, hostIPs(t)...) {
		h.addresses = append(h.addresses, net.JoinHostPort(ip, port))
	}
	h.addresses = append(h.addresses, name)
}

// settings are files of the kernel that one write would change for all, each with its content.
func settings(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{
		"core_pattern", "hostname", "domainname", "modprobe", "panic", "pid_max", "randomize_va_space", "sysrq", "poweroff_cmd", "shmmax", "sem",
	} {
		content, err := os.ReadFile("/proc/sys/kernel/" + name)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		fmt.Fprintf(&all, "%s=%s", name, content)
	}
	for _, name := range []string{"vm/overcommit_memory", "vm/panic_on_oom", "fs/suid_dumpable", "net/ipv4/ip_forward"} {
		content, err := os.ReadFile("/proc/sys/" + name)
		require.NoError(t, err)
		fmt.Fprintf(&all, "%s=%s", name, content)
	}
	return all.String()
}

// begun is a time of the clock that no call sets.
var begun = time.Now()

// clockOffset is how far the real time is from that clock.
func clockOffset() time.Duration { return time.Duration(time.Now().UnixNano()) - time.Since(begun) }

// harm tells what has happened to the host since it was made.
func (h *host) harm(t testing.TB) (problems []string) {
	t.Helper()
	if content, err := os.ReadFile(h.canary); err != nil || string(content) != h.token {
		problems = append(problems, fmt.Sprintf("the host's file is %q, %v", content, err))
	}
	if visits := h.visits.Swap(0); visits > 0 {
		problems = append(problems, fmt.Sprintf("%d came to the host's listeners", visits))
	}
	if now := settings(t); now != h.settings {
		problems = append(problems, fmt.Sprintf("the host's settings are %q and were %q", now, h.settings))
	}
	if off := clockOffset() - h.clock; off.Abs() > 5*time.Second {
		problems = append(problems, fmt.Sprintf("the host's clock moved by %s", off))
	}
	return append(append(problems, h.redisHarm()...), h.dockerHarm()...)
}

func (h *host) redisHarm() (problems []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	keys, err := h.client.Keys(ctx, "*").Result()
	value, errGet := h.client.Get(ctx, "canary").Result()
	if err != nil || errGet != nil || len(keys) != 1 || value != h.token {
		problems = append(problems, fmt.Sprintf("Redis has the keys %q and the value %q: %v, %v", keys, value, err, errGet))
	}
	return problems
}

func (h *host) dockerHarm() []string {
	out, err := exec.Command("docker", "ps", "--all", "--quiet", "--filter", "name="+h.container).CombinedOutput() //nolint:noctx // ends by itself
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		return []string{fmt.Sprintf("the Docker daemon has a container of the attack: %s %v", out, err)}
	}
	return nil
}
