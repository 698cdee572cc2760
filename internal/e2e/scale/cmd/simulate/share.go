package main

import (
	"context"
	"errors"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
)

// share measures how evenly four workers share a stream of jobs that does not fill them.
func (s *simulation) share(ctx context.Context) ([]*table, error) {
	t := newTable("share", "load", "workers", "slots", "started_per_s", "least_share", "most_share")
	for _, load := range []float64{0.1, 0.5, 0.9} {
		if err := s.shareAt(ctx, t, load); err != nil {
			return nil, err
		}
	}
	return []*table{t}, nil
}

func (s *simulation) shareAt(ctx context.Context, t *table, load float64) (err error) {
	const workers, run = 4, 100 * time.Millisecond
	redis, err := startServer(ctx, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	perSecond := load * workers * slotsEach / run.Seconds()
	count := int(perSecond * (s.window.Seconds() + 10))
	producer, err := scale.StartProducer(scale.Producer{
		Redis: redis.addr, Jobs: count, Chunk: 1, Queue: jobs.Batch, Sleep: run, Pace: time.Duration(float64(time.Second) / perSecond),
	}, s.stderr)
	if err != nil {
		return err
	}
	defer producer.Kill()
	fleet, err := startFleet(redis.addr, workers, slotsEach, nil, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fleet.stop()) }()
	if err := pause(ctx, 2*time.Second); err != nil { // all of them are there
		return err
	}
	if err := producer.Tell(); err != nil {
		return err
	}
	if err := fleet.waitFor(ctx, int64(perSecond)); err != nil {
		return err
	}
	r, err := watch(ctx, fleet, redis, s.window)
	if err != nil {
		return err
	}
	t.add(load, workers, workers*slotsEach, r.started/r.seconds, r.least, r.most)
	return nil
}
