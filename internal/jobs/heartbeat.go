package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// heartbeatPeriod is how often a worker says that it lives, and heartbeatExpiry how long
	// it is believed. A killed worker's jobs are back on their queues after 3 to 4 s of that, up to 1.1 s until the
	// next sweep and confirmAfter: 7.2 s at most, which leaves the rest of 10 s to the next start.
	heartbeatPeriod = time.Second
	heartbeatExpiry = 4 * time.Second
	// heartbeatLimit is short enough for another try after one that hung.
	heartbeatLimit = 2 * time.Second
)

// WorkerInfo is what a worker says of itself.
type WorkerInfo struct {
	ID   string `json:"id"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Slots are shared by all queues; InteractiveSlots come on top.
	Slots            int `json:"slots"`
	InteractiveSlots int `json:"interactive_slots"`
	// SessionSlots are for jobs that are forwarded to the worker, 0 if it runs no sessions.
	SessionSlots int `json:"session_slots,omitempty"`
	// Running is the number of jobs under way.
	Running int `json:"running"`
	// Finished counts the results that it has stored since it started.
	Finished int64     `json:"finished"`
	Started  time.Time `json:"started"`
}

// info says what does not change while the worker runs.
func (w *Worker) info() WorkerInfo {
	info := WorkerInfo{
		ID: w.id, Host: hostName(), PID: os.Getpid(), Slots: w.options.Concurrency,
		InteractiveSlots: w.options.InteractiveSlots, Started: time.Now().UTC(),
	}
	if w.options.Sessions != nil {
		info.SessionSlots = w.options.SessionSlots
	}
	return info
}

// ErrWorkerIDInUse means that a live worker has the same id.
var ErrWorkerIDInUse = errors.New("another live worker has this id")

// claimID registers the worker. It waits until a dead worker's claim has expired.
func (w *Worker) claimID(ctx context.Context, info WorkerInfo) error {
	value, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("register worker %s: %w", w.id, err)
	}
	deadline := time.Now().Add(heartbeatExpiry + 2*time.Second)
	for {
		err := w.store.rdb.SetArgs(ctx, w.store.keys.worker(w.id), value, redis.SetArgs{Mode: "NX", TTL: heartbeatExpiry}).Err()
		switch {
		case err == nil:
			return w.store.rdb.SAdd(ctx, w.store.keys.workers(), w.id).Err()
		case !errors.Is(err, redis.Nil):
			return fmt.Errorf("register worker %s: %w", w.id, err)
		case time.Now().After(deadline):
			return fmt.Errorf("register worker %s: %w", w.id, ErrWorkerIDInUse)
		}
		select {
		case <-time.After(heartbeatPeriod / 4):
		case <-ctx.Done():
			return fmt.Errorf("register worker %s: %w", w.id, context.Cause(ctx))
		}
	}
}

// heartbeat beats until ctx ends.
func (w *Worker) heartbeat(ctx context.Context, info WorkerInfo) {
	tick := time.NewTicker(heartbeatPeriod)
	defer tick.Stop()
	defer w.vitals.heartbeat.rest()
	w.beaten(nil, time.Now()) // the claim was the first
	for {
		w.vitals.heartbeat.beat()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.lookNow:
		}
		beatCtx, cancel := context.WithTimeout(ctx, heartbeatLimit)
		err := w.beat(beatCtx, info)
		if err != nil && ctx.Err() == nil {
			w.log.Warn("heartbeat not written", "error", err)
		}
		w.beaten(err, time.Now())
		cancel()
	}
}

// beat says that the worker lives and looks, in the same round trip, whether its jobs are
// still its own and whether one was canceled.
func (w *Worker) beat(ctx context.Context, info WorkerInfo) error {
	attempts := w.snapshot()
	info.Running, info.Finished = len(attempts), w.counters.Finished.Load()
	// One that begins only now would look as if somebody else owned its job.
	attempts = slices.DeleteFunc(attempts, func(a *attempt) bool { return !a.begun.Load() })
	value, err := json.Marshal(info)
	if err != nil {
		return err
	}
	states := make([]*redis.SliceCmd, len(attempts))
	var members *redis.StringSliceCmd
	_, err = w.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, w.store.keys.worker(w.id), value, heartbeatExpiry)
		pipe.SAdd(ctx, w.store.keys.workers(), w.id)
		members = pipe.SMembers(ctx, w.store.keys.running(w.id))
		for i, a := range attempts {
			states[i] = pipe.HMGet(ctx, w.store.keys.state(a.ref.ID), fieldToken, fieldCancel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, a := range attempts {
		w.inspect(a, states[i].Val())
	}
	return w.reconcile(ctx, members.Val())
}

// inspect ends an attempt that is canceled or that another one replaced while this worker
// was frozen or cut off.
func (w *Worker) inspect(a *attempt, fields []any) {
	switch {
	case len(fields) != 2:
	case fields[0] != a.token:
		a.cancel(ErrLost)
	case fields[1] != nil:
		a.cancel(sandbox.ErrCanceled)
	}
}

// reconcile puts back what the running set says this worker runs although it does not, at
// two looks in a row: a former process had the same id, or an outcome could not be written.
func (w *Worker) reconcile(ctx context.Context, members []string) error {
	own := map[string]bool{}
	for _, a := range w.snapshot() {
		own[a.ref.String()] = true
	}
	unclaimed := map[string]bool{}
	var errs []error
	for _, member := range members {
		switch {
		case own[member]:
		case w.unclaimed[member]:
			errs = append(errs, w.recoverJob(ctx, member, w.id))
		default:
			unclaimed[member] = true
		}
	}
	w.unclaimed = unclaimed
	return errors.Join(errs...)
}

// hostName is for people to read.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}
