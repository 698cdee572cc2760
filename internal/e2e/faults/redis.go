package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/testenv"
)

// Redis is a redis-server that writes an append-only file, synced every second as its manual recommends. It keeps its
// port and its data when it is ended and started again.
type Redis struct {
	// Addr is host:port.
	Addr string

	path, dir string
	env       []string
	noClock   error // why the clock cannot be stepped

	mu      sync.Mutex
	process *Process
	sizes   []aofSize // of the last seconds
	watch   chan struct{}
	watched sync.WaitGroup
}

// aofSize is how long the append-only file was at a time.
type aofSize struct {
	at    time.Time
	file  string
	bytes int64
}

// StartRedis starts a server on a free port of the loopback interface, in a folder of its own. It is ended when the test is over.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		testenv.Missing(t, "redis-server is not installed: run scripts/setup.sh redis")
	}
	r := &Redis{path: path, dir: t.TempDir()}
	library, err := clockLibrary()
	if r.noClock = err; err == nil {
		r.env = []string{"LD_PRELOAD=" + library, clockVariable + "=" + r.clockFile()}
	}
	t.Cleanup(func() { _ = r.End(syscall.SIGKILL) })
	for range 3 { // a port that was free can be taken before Redis binds it
		if r.Addr, err = freeAddr(); err == nil {
			if err = r.Start(); err == nil {
				return r
			}
		}
	}
	t.Fatalf("redis-server: %v", err)
	return nil
}

func freeAddr() (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Start starts the server again with the data that it has, and returns once it answers.
func (r *Redis) Start() error {
	_, port, err := net.SplitHostPort(r.Addr)
	if err != nil {
		return err
	}
	process, err := launch(r.path, r.dir, append(os.Environ(), r.env...), "--bind", "127.0.0.1", "--port", port, "--dir", r.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "everysec", "--aof-load-truncated", "yes", "--maxmemory-policy", "noeviction", "--daemonize", "no")
	if err != nil {
		return err
	}
	watch := make(chan struct{})
	r.mu.Lock()
	r.process, r.sizes, r.watch = process, nil, watch
	r.mu.Unlock()
	r.watched.Go(func() { r.noteSizes(watch) })
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := r.do(func(ctx context.Context, client *redis.Client) error { return client.Ping(ctx).Err() })
		switch {
		case err == nil:
			return nil
		case process.HasEnded() || time.Now().After(deadline):
			_ = r.End(syscall.SIGKILL)
			return fmt.Errorf("redis-server does not answer on %s: %w\n%s", r.Addr, err, process.Log)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// End sends the server a signal that ends it and returns once it has ended. SIGTERM lets it write what it has; after
// SIGKILL it still has everything that the kernel was given, as the machine goes on.
func (r *Redis) End(signal syscall.Signal) error {
	r.mu.Lock()
	process, watch := r.process, r.watch
	r.watch = nil
	r.mu.Unlock()
	if watch != nil {
		close(watch)
		r.watched.Wait()
	}
	if process == nil {
		return nil
	}
	return process.End(signal)
}

// EndLosing ends the server as a power cut would: what it wrote in the last d is gone.
func (r *Redis) EndLosing(d time.Duration) error {
	cut := time.Now().Add(-d)
	if err := r.End(syscall.SIGKILL); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.sizes) - 1; i >= 0; i-- {
		if size := r.sizes[i]; !size.at.After(cut) {
			return os.Truncate(size.file, size.bytes)
		}
	}
	return errors.New("redis-server does not run for that long yet")
}

// noteSizes follows the append-only file, whose last part alone grows.
func (r *Redis) noteSizes(stop <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			parts, _ := filepath.Glob(filepath.Join(r.dir, "appendonlydir", "*.incr.aof"))
			if len(parts) == 0 {
				continue
			}
			info, err := os.Stat(parts[len(parts)-1])
			if err != nil {
				continue
			}
			r.mu.Lock()
			r.sizes = append(r.sizes[max(0, len(r.sizes)-1000):], aofSize{time.Now(), parts[len(parts)-1], info.Size()})
			r.mu.Unlock()
		}
	}
}

// Fill makes the server refuse every write for want of memory; reads go on.
func (r *Redis) Fill() error { return r.configure("maxmemory", "1") }

// Empty undoes Fill.
func (r *Redis) Empty() error { return r.configure("maxmemory", "0") }

func (r *Redis) configure(key, value string) error {
	return r.do(func(ctx context.Context, client *redis.Client) error { return client.ConfigSet(ctx, key, value).Err() })
}

// do uses a connection of its own.
func (r *Redis) do(use func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1})
	return errors.Join(use(ctx, client), client.Close())
}

// Process is the server's process, another one after each Start.
func (r *Redis) Process() *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

// StepClock sets the server's clock to the machine's and d, back and forth as often as wanted. It needs a C compiler.
func (r *Redis) StepClock(d time.Duration) error {
	if r.noClock != nil {
		return fmt.Errorf("step Redis' clock: %w", r.noClock)
	}
	return writeClock(r.clockFile(), d)
}

func (r *Redis) clockFile() string { return filepath.Join(r.dir, "clock") }
