package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

const (
	// killGrace is how long Run waits for runners to return after it canceled them.
	killGrace = 30 * time.Second
	// asynqShutdown is how long asynq then may take to write the ends of its tasks.
	asynqShutdown = 5 * time.Second
	// retryMost is the longest pause before a job is tried again after our machinery failed.
	retryMost = 30 * time.Second
)

// Run takes jobs and runs them until ctx ends. Then it takes no more, lets those that run
// finish for Grace, ends the rest with the cause ErrShutdown and gives them back to the
// queue, where they lose nothing. It returns when nothing of it is left, with an error if
// it could not start or a runner did not return. It can be called once.
func (w *Worker) Run(ctx context.Context) error {
	info := w.info()
	switch err := w.claimID(ctx, info); {
	case ctx.Err() != nil:
		return nil // a claim that was made all the same expires
	case err != nil:
		return err
	}
	wake := map[Queue]chan struct{}{}
	for _, queue := range Queues() {
		wake[queue] = make(chan struct{}, 1)
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx)) // until the last job has ended
	defer end()
	listener := w.newListener(running, wake)
	var loops sync.WaitGroup
	loops.Go(func() { w.heartbeat(running, info) })
	loops.Go(func() { (&sweeper{worker: w, suspects: map[string]time.Time{}}).run(running) })
	loops.Go(listener.run)
	loops.Go(func() { w.reopen(running) })
	if w.options.Sessions != nil {
		loops.Go(func() { w.returnWhileStopping(running) })
	}

	servers, err := w.startServers(wake)
	chores, choreErr := w.startChores(running)
	err = errors.Join(err, choreErr)
	if err == nil {
		w.vitals.serving.Store(true)
		w.log.InfoContext(ctx, "worker started", "slots", info.Slots, "interactive_slots", info.InteractiveSlots)
		<-ctx.Done()
	}
	err = errors.Join(err, w.drain(servers))
	chores.stop()
	end()
	_ = listener.pubsub.Close()
	loops.Wait()
	w.kills.running.Wait()
	return errors.Join(err, w.deregister(context.WithoutCancel(ctx)))
}

// startServers starts an asynq server for each queue, so that none waits behind another, and one for what is
// forwarded to this worker.
func (w *Worker) startServers(wake map[Queue]chan struct{}) ([]*asynq.Server, error) {
	var servers []*asynq.Server
	for queue, signal := range wake {
		handover := make(chan slot, w.options.Concurrency+w.options.InteractiveSlots)
		server := w.newServer(w.store.keys.asynqQueue(queue), &serverConn{
			queue: queue, turns: newTurns(w.store.keys, queue), slots: w.slots, handover: handover, wake: signal,
		}, nil)
		if err := server.Start(&handler{worker: w, slots: w.slots, handover: handover}); err != nil {
			return servers, fmt.Errorf("start server of queue %s: %w", queue, err)
		}
		servers = append(servers, server)
	}
	if w.options.Sessions == nil {
		return servers, nil
	}
	server, err := w.serveForwards()
	if err != nil {
		return servers, err
	}
	return append(servers, server), nil
}

// newServer makes the asynq server of one of asynq's queues and completes its connection.
func (w *Worker) newServer(name string, conn *serverConn, base func() context.Context) *asynq.Server {
	conn.UniversalClient, conn.pending = w.store.rdb, asynqKey(name, "pending")
	conn.stop, conn.closing, conn.log = w.stop, w.closing, w.log
	return asynq.NewServerFromRedisClient(conn, asynq.Config{
		Concurrency:              2 * maxSlots, // never the limit: slots are
		Queues:                   map[string]int{name: 1},
		BaseContext:              base,
		TaskCheckInterval:        time.Millisecond, // serverConn does the waiting
		DelayedTaskCheckInterval: time.Second,
		RetryDelayFunc:           retryDelay,
		IsFailure:                isFailure,
		ShutdownTimeout:          asynqShutdown,
		Logger:                   asynqLog{w.log, slog.LevelWarn},
		LogLevel:                 asynq.DebugLevel,
	})
}

// retryDelay is 1 s, then 2, 4 and so on up to retryMost.
func retryDelay(retried int, err error, _ *asynq.Task) time.Duration {
	switch {
	case errors.Is(err, errSessionBusy):
		return sessionPause
	case !isFailure(err):
		return 2 * time.Second
	}
	return min(time.Second<<min(retried, 10), retryMost)
}

// isFailure tells whether asynq should count an error.
func isFailure(err error) bool {
	return err != nil && !errors.Is(err, errNotNow) && !errors.Is(err, errUnsettled)
}

// drain ends the servers. The order matters: asynq's Shutdown alone would put tasks back
// while their programs still run.
func (w *Worker) drain(servers []*asynq.Server) error {
	w.log.Info("worker stops", "grace", w.options.Grace)
	close(w.stop)
	each(servers, (*asynq.Server).Stop)
	var err error
	if !w.waitIdle(w.options.Grace) {
		w.endAttempts()
		if !w.waitIdle(killGrace) {
			err = fmt.Errorf("stop worker %s: %d runs did not end within %s", w.id, len(w.snapshot()), killGrace)
		}
	}
	closing := time.AfterFunc(asynqShutdown, func() { close(w.closing) })
	if err != nil && closing.Stop() {
		close(w.closing)
	}
	each(servers, (*asynq.Server).Shutdown)
	if closing.Stop() {
		close(w.closing)
	}
	return err
}

func each(servers []*asynq.Server, do func(*asynq.Server)) {
	var all sync.WaitGroup
	for _, server := range servers {
		all.Go(func() { do(server) })
	}
	all.Wait()
}

// waitIdle waits until no job runs and reports whether it was within limit.
func (w *Worker) waitIdle(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	return waitFor(w.slots.whenIdle(), limit) && waitFor(w.forwards.slots.whenIdle(), time.Until(deadline))
}

// waitFor waits for a channel to be closed and reports whether it was within limit.
func waitFor(closed <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
		return false
	}
}

// deregister says that the worker is gone. If something of it is left in its running set it
// stays registered, so that another worker puts that back.
func (w *Worker) deregister(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var left *redis.IntCmd
	_, err := w.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Del(ctx, w.store.keys.worker(w.id))
		left = pipe.SCard(ctx, w.store.keys.running(w.id))
		return nil
	})
	if err == nil {
		err = errors.Join(w.returnForwards(ctx), w.store.forgetForwards(ctx, w.id)) // without a heartbeat it gets no more
	}
	if err == nil && left.Val() == 0 {
		err = w.store.rdb.SRem(ctx, w.store.keys.workers(), w.id).Err()
	}
	if err != nil {
		return fmt.Errorf("deregister worker %s: %w", w.id, err)
	}
	return nil
}
