package main

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"time"
)

// slotsEach is how many jobs a worker of the simulation runs at once.
const slotsEach = 10

// queue measures a full queue: what jobs take of Redis' memory, and how fast workers start them.
func (s *simulation) queue(ctx context.Context) (tables []*table, err error) {
	redis, err := startServer(ctx, s.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	memory := newTable("memory", "state", "jobs", "bytes_per_job", "megabytes")
	empty, err := redis.read(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.produce(redis.addr, 2, s.jobs); err != nil {
		return nil, err
	}
	full, err := redis.read(ctx)
	if err != nil {
		return nil, err
	}
	addMemory(memory, "waiting", s.jobs, full.memory-empty.memory)
	dispatch := newDispatchTable("dispatch")
	for _, run := range []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for _, workers := range []int{1, 2, 4, 8, 20} {
			if err := s.dispatch(ctx, dispatch, redis, redis.addr, 0, run, workers); err != nil {
				return nil, err
			}
		}
	}
	return []*table{memory, dispatch}, errors.Join(s.memoryOfRunning(ctx, memory), s.memoryOfDone(ctx, memory))
}

func addMemory(t *table, state string, jobs int, bytes float64) {
	t.add(state, jobs, bytes/float64(jobs), bytes/1e6)
}

// memoryOfRunning adds what a job takes while it runs, from as many as one worker can run.
func (s *simulation) memoryOfRunning(ctx context.Context, t *table) error {
	const running = 4000
	return s.memoryWith(ctx, t, "running", running, running, time.Hour)
}

// memoryOfDone adds what a job takes that has its result, which holds its id.
func (s *simulation) memoryOfDone(ctx context.Context, t *table) error {
	return s.memoryWith(ctx, t, "done", max(s.jobs/20, 10*chunk), 64, 0)
}

// memoryWith measures the memory of Redis after one worker has begun, and if they take no time ended, all jobs.
func (s *simulation) memoryWith(ctx context.Context, t *table, state string, count, slots int, sleep time.Duration) (err error) {
	redis, err := startServer(ctx, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	empty, err := redis.read(ctx)
	if err != nil {
		return err
	}
	if _, err := s.produce(redis.addr, 1, count); err != nil {
		return err
	}
	fleet, err := startFleet(redis.addr, 1, slots, &sleep, s.stderr)
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range fleet.processes { // what runs for an hour is not waited for
			p.Kill()
		}
	}()
	if err := fleet.waitFor(ctx, int64(count)); err != nil {
		return err
	}
	if err := pause(ctx, 2*time.Second); err != nil { // the last ones end
		return err
	}
	full, err := redis.read(ctx)
	if err != nil {
		return err
	}
	addMemory(t, state, count, full.memory-empty.memory)
	return nil
}

func newDispatchTable(name string) *table {
	return newTable(name, "delay_ms", "run_ms", "workers", "slots", "possible_per_s", "started_per_s", "of_possible",
		"redis_cpu", "workers_cpu", "machine_cpu", "scripts_per_job", "commands_per_job", "bytes_per_job", "least_share", "most_share", "full")
}

// dispatch adds how many jobs workers start from a queue that never gets empty.
func (s *simulation) dispatch(ctx context.Context, t *table, redis *server, addr string, delay, run time.Duration, workers int) (err error) {
	fleet, err := startFleet(addr, workers, slotsEach, &run, s.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fleet.stop()) }()
	if err := fleet.waitFor(ctx, int64(2*workers*slotsEach)); err != nil { // the start-up is over
		return err
	}
	r, err := watch(ctx, fleet, redis, max(s.window, 3*run))
	if err != nil {
		return err
	}
	slots, perSecond := float64(workers*slotsEach), r.started/r.seconds
	possible, share := "", ""
	if run > 0 {
		possible, share = digits(slots/run.Seconds()), digits(perSecond/(slots/run.Seconds()))
	}
	t.add(milliseconds(delay), milliseconds(run), workers, int(slots), possible, perSecond, share, r.redis, r.workers, r.machine,
		r.scripts/perSecond, r.commands/perSecond, r.bytes/perSecond, r.least, r.most, r.full(perSecond*run.Seconds()/slots))
	return nil
}

// full tells what had no room left: the slots, Redis with its one thread, or the processors of the machine. What is left
// then are round trips: everybody waits for somebody's answer.
func (r rate) full(busy float64) string {
	switch {
	case busy > 0.9:
		return "slots"
	case r.redis > 0.9:
		return "redis"
	case r.machine > 0.9*float64(runtime.NumCPU()):
		return "processors"
	}
	return "round trips"
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}
