package docker

import (
	"context"
	"errors"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// startShape starts a container without a job.
func (r *Runner) startShape(ctx context.Context, s shape) (*box, error) {
	return r.startObserved(ctx, r.specOf(s), s, true)
}

func (r *Runner) specOf(s shape) ContainerSpec {
	gVisor := r.onGVisor(s.runtime)
	return ContainerSpec{
		ImageID: s.imageID, ImageVolumes: r.images.volumesOf(s.imageID),
		Limits: sandbox.Limits{
			Memory: s.memory, CPUs: s.cpus(), PIDs: s.pids, Tmp: s.tmp, Workspace: s.workspace, OpenFiles: s.openFiles,
		},
		Network: s.network, Runtime: s.runtime, Seccomp: r.options.Seccomp, CgroupV2: r.daemon.cgroupV2,
		GVisor: gVisor, InitVolume: r.init.volume(gVisor), Worker: r.options.Worker, Installation: r.options.Installation,
	}
}

// startHealed starts a container, and once more if the volume lost its content: Docker makes a
// volume that was removed anew, empty and silently.
func (r *Runner) startHealed(ctx context.Context, spec ContainerSpec, s shape) (*box, error) {
	b, err := r.start(ctx, spec, s)
	var notStarted *startError
	if !errors.As(err, &notStarted) || ctx.Err() != nil {
		return b, err
	}
	if fillErr := r.fillVolume(ctx, s.imageID, spec.GVisor); fillErr != nil {
		return nil, errors.Join(err, fillErr)
	}
	return r.start(ctx, spec, s)
}

// obtain gives a program a container: one that waits, unless it is to be fresh, or a new one. It tells which.
func (r *Runner) obtain(
	ctx context.Context, s shape, reuse *reuseKey, p sandbox.Program, fresh bool,
) (b *box, waited bool, err error) {
	ctx, span := spans.Child(ctx, "container.obtain")
	defer func() { endObtain(span, b, waited, err) }()
	if !fresh {
		b = r.waiting(ctx, s, reuse, p.Hold)
	}
	if b != nil {
		return b, true, nil
	}
	b, err = r.cold(ctx, s, p)
	return b, false, err
}

// cold starts a container for a program.
func (r *Runner) cold(ctx context.Context, s shape, p sandbox.Program) (*box, error) {
	r.coldStarts.Add(1)
	spec := r.specOf(s)
	if r.reuseOf(p, s) == nil { // a container of many jobs must not be killed for the sake of one
		spec.Job, spec.Attempt = p.ID, p.Attempt
	}
	spec.Hold = p.Hold
	return r.startObserved(ctx, spec, s, false)
}

// waiting takes a container that was started before: one of the batch, if reuse is not nil, or a warm one. It
// returns nil if there is none, and for a program that is held: no container that waits goes on for long enough.
func (r *Runner) waiting(ctx context.Context, s shape, reuse *reuseKey, hold time.Duration) *box {
	if hold > 0 {
		return nil
	}
	if reuse != nil {
		if b := r.reuse.take(ctx, *reuse); b != nil {
			r.reused.Add(1)
			return b
		}
	}
	return r.warm(ctx, s)
}

// warm takes a container from the pool and gives it the shape's limits. It returns nil if there is none.
func (r *Runner) warm(ctx context.Context, s shape) *box {
	b := r.pool.take(s)
	if b == nil {
		return nil
	}
	if b.shape != s {
		if err := update(ctx, r.docker, b.id, s.resources); err != nil {
			alive := b.alive() && r.runs(ctx, b.id) // a dead container refuses too, and that says nothing
			r.removeSoon(ctx, b)
			if ctx.Err() == nil && alive {
				r.pool.refuseUpdates(s.runtime)
				r.options.Log.Info("the runtime does not change limits of running containers; warm ones serve only jobs with the same limits",
					"runtime", r.daemon.runtimeName(s.runtime), "err", err)
			}
			return nil
		}
		b.shape = s
		r.adopted.Add(1)
	}
	r.warmHits.Add(1)
	return b
}

// runs asks the daemon, which knows that a container has ended before its connection tells.
func (r *Runner) runs(ctx context.Context, id string) bool {
	found, err := r.docker.ContainerInspect(ctx, id)
	return err == nil && found.State != nil && found.State.Running
}
