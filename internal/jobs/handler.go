package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// handler is the asynq handler of one queue. Each task comes with a slot of its own.
type handler struct {
	worker   *Worker
	slots    *slots
	handover chan slot
	// forwarded tells that the queue is the worker's own.
	forwarded bool
}

// ProcessTask runs a job once. It returns nil when the job has a result or is none of this
// worker's business, an error when it is to be tried again, and asynq.SkipRetry for a task
// that is not one of ours. It does not use asynq's context, which ends at times when the
// job has not.
func (h *handler) ProcessTask(ctx context.Context, task *asynq.Task) error {
	held := <-h.handover
	defer h.slots.release(held)
	defer h.worker.vitals.occupy(held, h.forwarded)()
	var r ref
	if err := json.Unmarshal(task.Payload(), &r); err != nil || task.Type() != taskType || !validName(r.ID, maxIDBytes) {
		h.worker.log.Error("task is not a job", "type", task.Type(), "error", err)
		return fmt.Errorf("task of type %s is not a job: %w", task.Type(), asynq.SkipRetry)
	}
	return h.worker.handle(context.WithoutCancel(ctx), r, h.forwarded)
}

// handle begins an attempt, runs it and settles what became of it.
func (w *Worker) handle(ctx context.Context, r ref, forwarded bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attempt{ref: r, token: newToken(), cancel: cancel, forwarded: forwarded}
	w.register(a)
	defer w.unregister(a)
	var b beginning
	err := w.insist(ctx, func(ctx context.Context) (err error) {
		b, err = w.begin(ctx, r, a.token)
		return err
	})
	if err != nil {
		return err
	}
	if b.verdict != "run" {
		return w.decline(ctx, r, b)
	}
	a.number, a.started, a.submitted, a.queue = b.attempt, b.started, b.submitted, b.queue
	a.begun.Store(true)
	if a.revoked.Load() { // the hint came while Redis' answer was on its way
		cancel(sandbox.ErrCanceled)
	}
	ctx = w.trace(ctx, a, b.trace)
	w.log.DebugContext(ctx, "job started", "job", r.ID, "attempt", a.number, "queue", a.queue)
	var end ending
	a.job, err = w.load(ctx, r.ID, b)
	switch {
	case err == nil:
		end, err = w.execute(ctx, a)
	case errors.Is(err, errUnauthorized):
		w.log.WarnContext(ctx, "job refused", "job", r.ID, "tenant", b.tenant, "error", err)
		end, err = ending{Result: ourResult(sandbox.OutcomeRejected, err.Error())}, nil
	}
	problem := err
	err = w.settle(ctx, a, end, problem)
	a.endTrace(ctx, problem, err)
	if !errors.Is(err, errUnsettled) {
		w.forget(ctx, r)
	}
	return err
}

// load reads the job itself, of which begin brought the first piece. One that this worker may not run is errUnauthorized.
func (w *Worker) load(ctx context.Context, id string, b beginning) (job Job, err error) {
	var body string
	var refusal error
	err = w.insist(ctx, func(ctx context.Context) (err error) {
		body, err = w.store.readRest(ctx, id, b.body)
		if errors.Is(err, errOversized) {
			refusal, err = err, nil
		}
		return err
	})
	err = cmp.Or(err, refusal)
	stored := []byte(body)
	if err == nil {
		err = w.authorize(id, b, stored) // before anything looks into it
	}
	if errors.Is(err, errUnauthorized) {
		return Job{}, err
	}
	if err == nil {
		job, err = w.store.decodeBody(id, stored)
	}
	if err != nil {
		return Job{}, fmt.Errorf("decode body of job %s: %w", id, hintSeal(err))
	}
	return job, nil
}

// decline ends a task that is not to be run now. One that somebody owns is looked at again
// later: asynq has taken the task from its owner, who could not have it tried again after a
// failure, or the owner is dead and the job will have been recovered.
func (w *Worker) decline(ctx context.Context, r ref, b beginning) error {
	if b.verdict != "owned" {
		w.log.DebugContext(ctx, "task dropped", "job", r.ID, "dispatch", r.Dispatch, "reason", b.verdict)
		w.forget(ctx, r)
		return nil
	}
	if b.owner != w.id {
		w.forget(ctx, r)
	}
	alive, err := w.store.alive(ctx, b.owner)
	if err == nil && alive[b.owner] {
		w.log.DebugContext(ctx, "task put off", "job", r.ID, "dispatch", r.Dispatch, "reason", "it runs elsewhere", "owner", b.owner)
		return fmt.Errorf("job %s is run by worker %s: %w", r, b.owner, errNotNow)
	}
	if err == nil { // an unregistered worker is looked at by every other one
		err = w.store.rdb.SAdd(ctx, w.store.keys.workers(), b.owner).Err()
	}
	if err == nil {
		err = w.store.rdb.SAdd(ctx, w.store.keys.running(b.owner), r.String()).Err()
	}
	return errors.Join(fmt.Errorf("job %s is owned by worker %s, which does not answer: %w", r, b.owner, errNotNow), err)
}

// errNotNow sends a task to asynq's retries without counting it as a failure.
var errNotNow = errors.New("try again later")

// forget takes a job from the worker's running set.
func (w *Worker) forget(ctx context.Context, r ref) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := w.store.rdb.SRem(ctx, w.store.keys.running(w.id), r.String()).Err(); err != nil {
		w.log.WarnContext(ctx, "running set not updated, the next heartbeat will", "job", r.ID, "dispatch", r.Dispatch, "error", err)
	}
}

// settle writes what became of an attempt, according to why it ended.
func (w *Worker) settle(ctx context.Context, a *attempt, end ending, problem error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrLost):
		return w.drop(a)
	case problem == nil:
	case a.job.Session != nil && handsOver(problem):
		return w.handOver(ctx, a, problem)
	case errors.Is(cause, sandbox.ErrCanceled):
		end = ending{Result: ourResult(sandbox.OutcomeCanceled, "the job was canceled; what it did is not known: "+problem.Error())}
	case errors.Is(cause, ErrShutdown):
		return w.requeue(ctx, a, releaseShutdown, workerShutdown)
	default:
		return w.fail(ctx, a, problem)
	}
	end.QueueTime = sandbox.Seconds(max(0, a.started.Sub(a.submitted)))
	end, packed := end.storable()
	var stored bool
	finishing, span := spans.Child(ctx, "finish")
	err := w.insist(finishing, func(ctx context.Context) (err error) {
		stored, err = w.finish(ctx, a, end.Outcome, w.store.sealEnding(a.ref.ID, packed))
		return err
	})
	span.End()
	switch {
	case err != nil:
		return err
	case !stored:
		return w.drop(a)
	}
	a.stored = &end.Result
	w.counters.Finished.Add(1)
	w.observeEnd(a, end.Outcome, end.Duration.Duration())
	if a.job.Follow {
		endOutput(ctx, w.store, a.ref.ID)
	}
	w.log.InfoContext(ctx, "job done", "job", a.ref.ID, "attempt", a.number, "queue", a.queue, "outcome", end.Outcome,
		"duration", end.Duration.Duration(), "queued", end.QueueTime.Duration())
	return nil
}

// drop ends an attempt that does not own its job. The task is looked at once more, because
// there may be no other: Redis forgets what it was told last when a replica takes over.
func (w *Worker) drop(a *attempt) error {
	w.counters.Dropped.Add(1)
	w.log.Warn("result dropped, another attempt owns the job", "job", a.ref.ID, "attempt", a.number)
	return fmt.Errorf("attempt %d of job %s does not own it: %w", a.number, a.ref, errNotNow)
}

// requeue gives a job that this worker cannot run to the others at once, for a reason that does not count against it.
func (w *Worker) requeue(ctx context.Context, a *attempt, reason, problem string) error {
	var reply []string
	err := w.insist(ctx, func(ctx context.Context) (err error) {
		reply, err = w.release(ctx, a, reason, problem)
		if err != nil || reply[0] != "queued" {
			return err
		}
		if err := w.store.dispatch(ctx, a.queue, a.ref.renewed(reply[1])); err != nil {
			return err
		}
		w.counters.Requeued.Add(1)
		w.log.InfoContext(ctx, "job requeued", "job", a.ref.ID, "attempt", a.number)
		return nil
	})
	w.observeReleased(a, reply)
	switch {
	case err != nil:
		return err
	case reply[0] == "lost":
		return w.drop(a)
	case reply[0] == "done" && sandbox.Outcome(reply[1]) == sandbox.OutcomeInfraError: // there are no more excuses
		w.bury(ctx, a.queue, a.ref.ID)
	}
	return nil
}

// fail records that our machinery failed. The error it returns makes asynq try again
// later; it is nil when the job was given up or ended otherwise, and when it was forwarded
// here: then it is tried again by any worker.
func (w *Worker) fail(ctx context.Context, a *attempt, problem error) error {
	w.counters.Failed.Add(1)
	w.log.ErrorContext(ctx, "attempt failed", "job", a.ref.ID, "attempt", a.number, "error", problem)
	var reply []string
	reason := releaseFailed
	switch {
	case errors.Is(problem, ErrNoBlob), errors.Is(problem, errOversized), isTampered(problem):
		reason = releaseHopeless
	case w.broken(ctx):
		return w.requeue(ctx, a, releaseExcused, problem.Error())
	case a.forwarded:
		reason = releaseReturned
	}
	err := w.insist(ctx, func(ctx context.Context) (err error) {
		reply, err = w.release(ctx, a, reason, problem.Error())
		if err != nil || reply[0] != "queued" || reason != releaseReturned {
			return err
		}
		admission, err := w.store.accepted(ctx, a.queue, a.ref.ID)
		if err != nil {
			return err
		}
		later := asynq.ProcessIn(retryDelay(a.number-1, problem, nil))
		return w.store.admit(ctx, w.store.tasks, a.ref.renewed(reply[1]), admission, later)
	})
	w.observeReleased(a, reply)
	switch {
	case err != nil:
		return err
	case reply[0] == "queued" && reason == releaseReturned:
		return nil
	case reply[0] == "queued":
		return problem
	case reply[0] == "lost":
		return w.drop(a)
	case sandbox.Outcome(reply[1]) == sandbox.OutcomeInfraError:
		w.bury(ctx, a.queue, a.ref.ID)
	}
	return nil
}

// alive tells which workers have a heartbeat.
func (s *store) alive(ctx context.Context, ids ...string) (map[string]bool, error) {
	beats := make(map[string]*redis.IntCmd, len(ids))
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, id := range ids {
			beats[id] = pipe.Exists(ctx, s.keys.worker(id))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read heartbeats: %w", err)
	}
	alive := make(map[string]bool, len(ids))
	for id, beat := range beats {
		alive[id] = beat.Val() == 1
	}
	return alive, nil
}
