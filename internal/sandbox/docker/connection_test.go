package docker

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// relay passes connections on to the Docker daemon, until it is cut.
type relay struct {
	path   string
	daemon string
	served sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	testenv.Docker(t)
	direct, err := client.NewClientWithOpts(client.FromEnv)
	require.NoError(t, err)
	address, err := client.ParseHostURL(direct.DaemonHost())
	require.NoError(t, err)
	require.NoError(t, direct.Close())
	dir, err := os.MkdirTemp("", "relay") //nolint:usetesting // a socket's path must be short
	require.NoError(t, err)
	r := &relay{path: filepath.Join(dir, "s"), daemon: address.Host + address.Path}
	r.mend(t)
	t.Cleanup(func() {
		r.cut()
		r.served.Wait()
		require.NoError(t, os.RemoveAll(dir))
	})
	return r
}

func (r *relay) mend(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", r.path)
	require.NoError(t, err)
	r.mu.Lock()
	r.listener = listener
	r.mu.Unlock()
	r.served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.pass(conn)
		}
	})
}

func (r *relay) pass(conn net.Conn) {
	daemon, err := (&net.Dialer{}).DialContext(context.Background(), "unix", r.daemon)
	if err != nil {
		_ = conn.Close()
		return
	}
	r.mu.Lock()
	r.open = append(r.open, conn, daemon)
	r.mu.Unlock()
	both := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	r.served.Go(func() { both(daemon, conn) })
	r.served.Go(func() { both(conn, daemon) })
}

// cut makes the daemon unreachable and breaks what is connected.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for _, conn := range r.open {
		_ = conn.Close()
	}
	r.open = nil
}

func TestCaseDaemonThatIsLostIsAnError(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"for good": false, "for a moment": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelay(t)
			through, err := client.NewClientWithOpts(client.WithHost("unix://"+r.path), client.WithAPIVersionNegotiation())
			require.NoError(t, err)
			b := setupOn(t, through)
			_, took, err := actDuring(t, b, bash("echo up", "sleep 60"), func(context.CancelCauseFunc) {
				r.cut()
				if back {
					r.mend(t)
				}
			})
			require.Error(t, err)
			require.Less(t, took, testenv.Scale(t, 20*time.Second))
			if !back {
				r.mend(t)
			}
			got := b.run(t, bash("echo again"))
			require.Equal(t, "again\n", string(got.Stdout.Data))
		})
	}
}
