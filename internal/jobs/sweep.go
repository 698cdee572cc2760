package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// sweepPeriod is how often a worker looks for others that died.
	sweepPeriod = time.Second
	// confirmAfter is how long a heartbeat must be missing before a worker counts as dead. With heartbeatExpiry it is
	// the time that a starved worker has: it may miss five heartbeats in a row.
	confirmAfter = 2 * time.Second
	// confirmSpread keeps workers from confirming the same death in the same moment.
	confirmSpread = 100 * time.Millisecond
	// outageGrace is how long nobody is condemned after Redis did not answer, or did not take our own heartbeat: all
	// heartbeats may have expired meanwhile, and everybody needs a moment to renew his.
	outageGrace = 5 * time.Second
	// leaseDuration is asynq's own, which is renewed every 5 s.
	leaseDuration = 30 * time.Second
	// strandedAfter is for how long a task's lease was not renewed when its worker died, or
	// lost the reply, between taking the task and beginning the job.
	strandedAfter = 12 * time.Second
	// strandedEvery is the number of sweeps from one look at leases to the next.
	strandedEvery = 5
)

// sweeper finds workers that died and tasks that nobody works on.
type sweeper struct {
	worker   *Worker
	suspects map[string]time.Time // since when a worker's heartbeat is missing
	quiet    time.Time            // nobody is condemned before
	count    int
}

// run sweeps until ctx ends.
func (s *sweeper) run(ctx context.Context) {
	defer s.worker.vitals.sweep.rest()
	for {
		s.worker.vitals.sweep.beat()
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.pause(time.Now())):
		}
		sweepCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
		if err := s.sweep(sweepCtx, time.Now()); err != nil && ctx.Err() == nil {
			s.worker.log.Warn("sweep for lost workers did not end well", "error", err)
		}
		cancel()
	}
}

// pause is the time to the next look. Whoever is suspected is looked at as soon as that may be confirmed, since his jobs wait.
func (s *sweeper) pause(now time.Time) time.Duration {
	pause := sweepPeriod*9/10 + rand.N(sweepPeriod/5) //nolint:gosec // spreads load, hides nothing
	for _, since := range s.suspects {
		if left := since.Add(confirmAfter).Sub(now); left > 0 {
			pause = min(pause, left+rand.N(confirmSpread)) //nolint:gosec // as above
		}
	}
	return pause
}

// sweep looks once.
func (s *sweeper) sweep(ctx context.Context, now time.Time) error {
	dead, err := s.look(ctx, now)
	if err != nil {
		clear(s.suspects)
		s.quiet = now.Add(outageGrace)
		return err
	}
	var errs []error
	for _, id := range dead {
		if err := s.worker.recoverWorker(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("recover from worker %s: %w", id, err))
			continue
		}
		s.worker.lost(time.Since(s.suspects[id]))
		delete(s.suspects, id)
	}
	if s.count++; s.count%strandedEvery == 0 {
		errs = append(errs, s.recoverStranded(ctx, now))
	}
	return errors.Join(errs...)
}

// look returns the workers whose heartbeat has been missing for long enough.
func (s *sweeper) look(ctx context.Context, now time.Time) (dead []string, err error) {
	ids, err := s.worker.store.rdb.SMembers(ctx, s.worker.store.keys.workers()).Result()
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	ids = s.watched(ids)
	alive, err := s.worker.store.alive(ctx, append(ids, s.worker.id)...)
	if err != nil {
		return nil, err
	}
	if !alive[s.worker.id] { // then Redis answers and takes no heartbeats: nobody's silence says anything
		s.quiet = now.Add(outageGrace)
	}
	for _, id := range ids {
		since, suspected := s.suspects[id]
		switch {
		case alive[id] || id == s.worker.id || now.Before(s.quiet):
			delete(s.suspects, id)
		case !suspected:
			s.suspects[id] = now
		case now.Sub(since) >= confirmAfter:
			dead = append(dead, id)
		}
	}
	return dead, nil
}

// recoverStranded puts back jobs that a worker took from asynq but never began.
func (s *sweeper) recoverStranded(ctx context.Context, now time.Time) error {
	cutoff := strconv.FormatInt(now.Add(leaseDuration-strandedAfter).Unix(), 10)
	keys := s.worker.store.keys
	names := []string{keys.workerQueue(s.worker.id)}
	for _, queue := range Queues() {
		names = append(names, keys.asynqQueue(queue))
	}
	leases := make([]*redis.StringSliceCmd, len(names))
	_, err := s.worker.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, name := range names {
			leases[i] = pipe.ZRangeByScore(ctx, asynqKey(name, "lease"), &redis.ZRangeBy{Min: "-inf", Max: cutoff, Count: 100})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list leases: %w", err)
	}
	var errs []error
	for _, lease := range leases {
		for _, task := range lease.Val() {
			errs = append(errs, s.worker.recoverJob(ctx, task, ""))
		}
	}
	return errors.Join(errs...)
}
