package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// errStale means that a container that waited for a job died or gave up before it could take it.
var errStale = errors.New("waiting container did not take the job")

// refillDelay is how long a job may run before the pool fills up beside it.
const refillDelay = 100 * time.Millisecond

// Run runs a program and returns what became of it. Whatever the program does is a result.
// An error means that our machinery failed, or that ctx ended for another cause than
// sandbox.ErrCanceled; its container is then gone and the program can run again. An
// absent image wraps ErrImageAbsent.
func (r *Runner) Run(ctx context.Context, p sandbox.Program) (sandbox.Result, error) {
	return r.execute(ctx, p, nil)
}

// execute runs a program once, or on the tests of a series if that is not nil.
func (r *Runner) execute(ctx context.Context, p sandbox.Program, tests *series) (sandbox.Result, error) {
	begun := time.Now()
	if err := r.enter(); err != nil {
		return sandbox.Result{}, err
	}
	defer r.background.Done()
	prepared, err := r.options.Languages.Prepare(p, r.options.Defaults, r.options.Maxima)
	if err != nil {
		return rejected(err), nil
	}
	through, err := r.passOf(p)
	if err != nil {
		return rejected(err), nil
	}
	through.equip(&prepared.Plan, p.Env)
	result, err := r.runPrepared(ctx, p, prepared, through, tests, begun)
	for tests != nil && (errors.Is(err, errUnclean) || (err == nil && !tests.conclude(&result))) {
		result, err = r.runPrepared(ctx, p, prepared, through, tests, time.Now())
	}
	switch {
	case err == nil:
		return result, nil
	case errors.Is(context.Cause(ctx), sandbox.ErrCanceled):
		return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: exitKilled, Message: "canceled before it ran"}, nil
	case ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)):
		return sandbox.Result{}, fmt.Errorf("run job %s: %w: %w", p.ID, context.Cause(ctx), err)
	default:
		return sandbox.Result{}, fmt.Errorf("run job %s: %w", p.ID, err)
	}
}

// runPrepared runs a program in one container.
func (r *Runner) runPrepared(
	ctx context.Context, p sandbox.Program, prepared sandbox.Prepared, through *pass, tests *series, begun time.Time,
) (sandbox.Result, error) {
	found, err := r.images.resolve(ctx, prepared.Language.Image)
	if err != nil {
		return sandbox.Result{}, err
	}
	s := shapeOf(found.id, prepared.Limits, p.Network).on(r.options.RuntimeOf(p.Tenant))
	j, err := newJob(p, prepared, s)
	if err != nil {
		return rejected(err), nil
	}
	if tests != nil {
		tests.begin(p, prepared, r.options.Maxima)
		j.forTests(tests)
	}
	// Starting a container takes as much of a processor as many a whole job. So the next one waits
	// until this job has ended or proves to be a long one.
	defer r.pool.poke()
	defer time.AfterFunc(refillDelay, r.pool.poke).Stop()
	reuse := r.reuseOf(p, s)
	if reuse != nil {
		r.reuse.begin()
		defer r.reuse.end()
	}
	record := sandbox.Enforcement{Image: prepared.Language.Image, ImageID: found.id, Runtime: r.daemon.runtimeName(s.runtime)}
	for fresh := false; ; fresh = true {
		b, waited, err := r.obtain(ctx, s, reuse, p, fresh)
		if err != nil {
			return sandbox.Result{}, err
		}
		if p.Hold > 0 { // it outlives the job that it was started for
			ctx = spans.Without(ctx)
		}
		record.Reused = b.jobs > 0
		record.Warm = waited && !record.Reused
		if p.OnStart != nil {
			j.onStart = func(view sandbox.KernelView) {
				record.KernelView = view
				p.OnStart(record)
			}
		}
		t := &task{runner: r, box: b, waited: waited, job: j, program: p, limits: prepared.Limits, reuse: reuse}
		result, err := t.runThrough(ctx, through)
		tests.count(result.Network)
		if errors.Is(err, errStale) && ctx.Err() == nil {
			r.stale.Add(1)
			continue
		}
		if err != nil {
			return sandbox.Result{}, err
		}
		if !t.started.IsZero() {
			result.StartupTime = sandbox.Seconds(t.started.Sub(begun))
		}
		record.KernelView = result.Enforcement.KernelView
		result.Enforcement = record
		return result, nil
	}
}
