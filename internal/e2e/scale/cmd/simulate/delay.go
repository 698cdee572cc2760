package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// delay measures how fast workers start jobs when Redis is as far away as another machine.
func (s *simulation) delay(ctx context.Context) (tables []*table, err error) {
	redis, err := startServer(ctx, s.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	if _, err := s.produce(redis.addr, 2, max(s.jobs/5, 10*chunk)); err != nil {
		return nil, err
	}
	t := newDispatchTable("delay")
	for _, delay := range []time.Duration{time.Millisecond, 5 * time.Millisecond} {
		proxy, err := startProxy(ctx, redis.addr, delay/2)
		if err != nil {
			return nil, err
		}
		for _, run := range []time.Duration{0, 100 * time.Millisecond} {
			for _, workers := range []int{1, 4, 20} {
				if err := s.dispatch(ctx, t, redis, proxy.addr, delay, run, workers); err != nil {
					return nil, errors.Join(err, proxy.stop())
				}
			}
		}
		if err := proxy.stop(); err != nil {
			return nil, err
		}
	}
	return []*table{t}, nil
}

// proxy passes bytes on to a server, each after a time, in either direction.
type proxy struct {
	addr     string
	listener net.Listener
	running  sync.WaitGroup
}

func startProxy(ctx context.Context, server string, delay time.Duration) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: listener.Addr().String(), listener: listener}
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			remote, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			p.running.Go(func() { pass(client, remote, delay) })
			p.running.Go(func() { pass(remote, client, delay) })
		}
	})
	return p, nil
}

// stop takes no more connections and waits until those that there are have been closed by their clients.
func (p *proxy) stop() error {
	err := p.listener.Close()
	p.running.Wait()
	return err
}

// piece is what was read at one time.
type piece struct {
	bytes []byte
	due   time.Time
}

// pass copies one direction until its reader ends, then closes the other side.
func pass(from io.ReadCloser, to io.WriteCloser, delay time.Duration) {
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{buffer[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for piece := range pieces {
		time.Sleep(time.Until(piece.due))
		if _, err := to.Write(piece.bytes); err != nil {
			break
		}
	}
	_ = errors.Join(to.Close(), from.Close())
	for range pieces { // what nobody wants any more
	}
}
