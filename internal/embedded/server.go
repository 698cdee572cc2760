package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is how often expiries are looked at, and so by how much they can be late.
const tick = 200 * time.Millisecond

// Server is a running embedded Redis.
type Server struct {
	redis *miniredis.Miniredis
	addr  string
	stop  context.CancelFunc
	clock sync.WaitGroup
}

// Start serves Redis on addr, a loopback host:port where port 0 takes a free one. It stops
// when ctx ends or Close is called. The log tells loudly that nothing is kept.
func Start(ctx context.Context, addr string, log *slog.Logger) (*Server, error) {
	if err := checkLoopback(addr); err != nil {
		return nil, err
	}
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(addr); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("serve embedded redis: %s is in use: if that is another worker's, start this one with --redis %s, else choose another redis.embedded_addr: %w", addr, addr, err)
		}
		return nil, fmt.Errorf("serve embedded redis on %s: %w", addr, err)
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Server{redis: redis, addr: redis.Addr(), stop: stop}
	s.clock.Go(func() { s.runClock(ctx) })
	log.Warn("embedded Redis: ALL JOBS AND RESULTS ARE LOST WHEN THIS PROCESS ENDS. Use a Redis server for anything that matters.",
		"addr", s.addr)
	return s, nil
}

// Addr is the host:port that is served; it stays the same after Close.
func (s *Server) Addr() string { return s.addr }

// Close ends every connection and frees the port. It may be called more than once.
func (s *Server) Close() {
	s.stop()
	s.clock.Wait()
}

// runClock makes keys expire: miniredis itself has no clock. The time is told from outside
// because its own way of following the clock costs nine tenths of its speed.
func (s *Server) runClock(ctx context.Context) {
	defer s.redis.Close()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.redis.FastForward(now.Sub(last))
			last = now
		}
	}
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("embedded redis: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("embedded redis: %s is not a loopback address, and it asks for no password", addr)
	}
	return nil
}
