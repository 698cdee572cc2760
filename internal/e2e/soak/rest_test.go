//go:build soak

package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/e2e/soak"
	"github.com/sandloop/sandloop/internal/jobs"
)

// readAll notes the result of every job that was accepted, as Redis itself has it.
func (r *run) readAll() {
	ctx := r.t.Context()
	for _, id := range r.jobs.all() {
		record, err := r.lab.Jobs.Result(ctx, id)
		if err != nil {
			state := err.Error()
			if errors.Is(err, jobs.ErrNotDone) {
				status, _ := r.lab.Jobs.Status(ctx, id)
				state = fmt.Sprintf("%+v", status)
			}
			r.record.Add(soak.Event{Kind: soak.Unfinished, Job: id, Text: state})
			continue
		}
		got, err := soak.Of(record)
		require.NoError(r.t, err)
		r.record.Add(soak.Event{Kind: soak.Final, Job: id, Got: got})
	}
}

// sweepTime is what a reaper has to find what dead workers left: its period, a container's grace, and the second look.
const sweepTime = 90 * time.Second

// noteOrphans notes the containers that are of no use to a living worker.
func (r *run) noteOrphans() {
	ctx, cancel := context.WithTimeout(r.t.Context(), sweepTime)
	defer cancel()
	_ = r.lab.AwaitNoOrphans(ctx) // what it waited for in vain is found below
	orphans, err := r.lab.Orphans(r.t.Context())
	require.NoError(r.t, err)
	for _, text := range orphans {
		r.record.Add(soak.Event{Kind: soak.Left, Text: "orphan " + text})
	}
}

// cleanTime is what the last containers and volumes have to go.
const cleanTime = 30 * time.Second

// noteLeft notes what is in Docker and Redis once the workers have ended.
func (r *run) noteLeft() {
	ctx, cancel := context.WithTimeout(r.t.Context(), cleanTime)
	defer cancel()
	_ = r.lab.AwaitClean(ctx) // what it waited for in vain is found below
	left, err := r.lab.Leftovers(r.t.Context())
	require.NoError(r.t, err)
	queues, err := r.queuesLeft(r.t.Context())
	require.NoError(r.t, err)
	workers, err := r.workersLeft(r.t.Context())
	require.NoError(r.t, err)
	for _, text := range slices.Concat(left, queues, workers) {
		r.record.Add(soak.Event{Kind: soak.Left, Text: text})
	}
}

// awaitQueues waits until no task is left. Those of workers that were killed come back by asynq's own leases, which
// takes longer than their jobs did.
func (r *run) awaitQueues() {
	ctx, cancel := context.WithTimeout(r.t.Context(), queueTime)
	defer cancel()
	for ctx.Err() == nil {
		if left, err := r.queuesLeft(ctx); err == nil && len(left) == 0 {
			return
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// queueTime is what asynq has to look at every task once more.
const queueTime = 3 * time.Minute

// workersLeft describes the workers that are registered.
func (r *run) workersLeft(ctx context.Context) (found []string, err error) {
	workers, err := r.lab.Truth.SMembers(ctx, jobs.DefaultPrefix+":workers").Result()
	for _, id := range workers {
		found = append(found, "worker "+id+" is registered")
	}
	return found, err
}

// queuesLeft describes the tasks that are in a queue of jobs.
func (r *run) queuesLeft(ctx context.Context) (found []string, err error) {
	for _, queue := range jobs.Queues() {
		name := "asynq:{" + jobs.DefaultPrefix + ":" + string(queue) + "}:"
		for _, kind := range []string{"pending", "active", "retry", "scheduled", "archived", "lease"} {
			ids, err := r.members(ctx, name+kind)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				found = append(found, fmt.Sprintf("task %s of queue %s is %s", id, queue, kind))
			}
		}
	}
	stats, err := r.lab.Jobs.Stats(ctx)
	for _, queue := range stats.Queues {
		if queue.Pending+queue.Bytes+queue.Tenants > 0 {
			found = append(found, fmt.Sprintf("%d jobs of %d tenants wait in queue %s, %d bytes", queue.Pending, queue.Tenants, queue.Queue, queue.Bytes))
		}
	}
	return found, err
}

// members are those of a list or a sorted set.
func (r *run) members(ctx context.Context, key string) ([]string, error) {
	kind, err := r.lab.Truth.Type(ctx, key).Result()
	switch {
	case err != nil:
		return nil, err
	case kind == "list":
		return r.lab.Truth.LRange(ctx, key, 0, -1).Result()
	case kind == "zset":
		return r.lab.Truth.ZRange(ctx, key, 0, -1).Result()
	}
	return nil, nil
}

// noteLog notes what a worker said, in its own time.
func (r *run) noteLog(w *faults.Worker) {
	for _, line := range w.Log.Lines() {
		if line.Message == "configuration" {
			continue
		}
		var said struct {
			Time   time.Time `json:"time"`
			Worker string    `json:"worker"`
			Job    string    `json:"job"`
		}
		if err := json.Unmarshal([]byte(line.Text), &said); err != nil {
			r.t.Errorf("log of worker %d: %v", w.PID(), err)
			continue
		}
		r.record.Add(soak.Event{At: said.Time, Kind: soak.Logged, Worker: said.Worker, Job: said.Job, Message: line.Message, Text: line.Text})
	}
}
