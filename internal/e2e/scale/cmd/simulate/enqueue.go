package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
)

// chunk is how many jobs producers hand in with each call.
const chunk = 1000

// enqueue measures how many jobs a second producers can hand in.
func (s *simulation) enqueue(ctx context.Context) ([]*table, error) {
	t := newTable("enqueue", "aof", "producers", "jobs", "jobs_per_s", "redis_cpu", "producers_cpu", "machine_cpu")
	for _, aof := range []string{"no", "yes"} {
		for _, producers := range []int{1, 2, 4} {
			if err := s.enqueueWith(ctx, t, aof, producers); err != nil {
				return nil, fmt.Errorf("%d producers: %w", producers, err)
			}
		}
	}
	return []*table{t}, nil
}

func (s *simulation) enqueueWith(ctx context.Context, t *table, aof string, producers int) (err error) {
	redis, err := startServer(ctx, s.stderr, "--appendonly", aof)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	first, err := redis.read(ctx)
	if err != nil {
		return err
	}
	p, err := s.produce(redis.addr, producers, max(s.jobs/10, 10*chunk))
	if err != nil {
		return err
	}
	last, err := redis.read(ctx)
	if err != nil {
		return err
	}
	t.add(aof, producers, p.Jobs, float64(p.Jobs)/p.Seconds, (last.cpu-first.cpu)/p.Seconds, p.CPUSeconds/p.Seconds,
		(last.machine-first.machine)/last.at.Sub(first.at).Seconds())
	return nil
}

// produce has producers, each a process, hand in jobs to the queue batch, and returns once all are there.
func (s *simulation) produce(addr string, producers, count int) (sum scale.Produced, err error) {
	processes := make([]*scale.Process, producers)
	for i := range processes {
		processes[i], err = scale.StartProducer(scale.Producer{
			Redis: addr, Jobs: count / producers, Chunk: chunk, Queue: jobs.Batch,
		}, s.stderr)
		if err != nil {
			return sum, err
		}
		defer processes[i].Kill()
	}
	began := time.Now()
	for _, p := range processes {
		if err := p.Tell(); err != nil {
			return sum, err
		}
	}
	for _, p := range processes {
		var produced scale.Produced
		if err := p.Hear(&produced); err != nil {
			return sum, err
		}
		sum.Jobs += produced.Jobs
		sum.CPUSeconds += produced.CPUSeconds
	}
	sum.Seconds = time.Since(began).Seconds()
	return sum, nil
}
