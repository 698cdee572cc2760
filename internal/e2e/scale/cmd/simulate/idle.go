package main

import (
	"context"
	"errors"
	"time"
)

// idle measures what workers ask of Redis while there is nothing to do.
func (s *simulation) idle(ctx context.Context) ([]*table, error) {
	t := newTable("idle", "workers", "commands_per_s", "scripts_per_s", "redis_cpu", "workers_cpu")
	for _, workers := range []int{1, 4, 20} {
		if err := s.idleWith(ctx, t, workers); err != nil {
			return nil, err
		}
	}
	return []*table{t}, nil
}

func (s *simulation) idleWith(ctx context.Context, t *table, workers int) (err error) {
	redis, err := startServer(ctx, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	fleet, err := startFleet(redis.addr, workers, slotsEach, nil, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fleet.stop()) }()
	if err := pause(ctx, 5*time.Second); err != nil { // all of them are there
		return err
	}
	r, err := watch(ctx, fleet, redis, 2*s.window)
	if err != nil {
		return err
	}
	t.add(workers, r.commands, r.scripts, r.redis, r.workers)
	return nil
}
