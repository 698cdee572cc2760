package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const (
	// maxReuses bounds the jobs of one container, so that whatever no check looks for cannot pile up for ever.
	maxReuses = 500
	// cleanTimeout bounds the wait for sandbox-init to clean up; it gives up by itself before that.
	cleanTimeout = 15 * time.Second
)

// reuseKey is what programs must have in common to run in one container. The limits are
// those that it was started with: those of a used container are never changed.
type reuseKey struct {
	batch string
	shape shape
}

// reuseOf returns under which key a program's container is kept, or nil if it is not to be. What a network may
// remember of a program cannot be wiped, so that a program that has one never shares a container.
func (r *Runner) reuseOf(p sandbox.Program, s shape) *reuseKey {
	if p.Reuse == "" || p.Network || p.Hold > 0 || !r.options.AllowReuse {
		return nil
	}
	return &reuseKey{batch: p.Reuse, shape: s}
}

// reusable tells whether another job may follow in a container after one that is about to begin.
func (r *Runner) reusable(b *box) bool {
	return b.jobs+1 < maxReuses && time.Since(b.created) < r.options.WarmAge
}

// odd tells of the end of a step whether its container has to go. Exit codes are all alike. A limit that
// was hit is where a sandbox is under strain, and a signal is how a failed attempt at the kernel or at
// sandbox-init looks, or a kill for memory that the counters do not show yet.
func odd(step wire.StepReport) bool {
	return step.Cause != "" || step.Signal != 0 || step.OOMKills > 0 || step.PIDsDenied > 0 || step.DiskFull != ""
}

// plain tells whether a job came to its end and nothing on the way was odd.
func (r report) plain(tests *series) bool {
	for _, step := range r.steps {
		if step.report != nil && odd(*step.report) {
			return false
		}
	}
	return r.end != nil && (tests == nil || !tests.odd)
}

// keep puts a container on the shelf once its sandbox-init has proved that nothing of the last job is left,
// and else removes it. The caller has its result meanwhile.
func (r *Runner) keep(ctx context.Context, b *box, key reuseKey) {
	b.jobs++
	if !r.reuse.expect(b, key) {
		r.removeSoon(ctx, b)
		return
	}
	r.background.Go(func() {
		err := b.awaitClean()
		if err != nil {
			r.options.Log.Debug("container is not used again", "container", b.id, "err", err)
		}
		for _, gone := range r.reuse.settle(b, key, err == nil) {
			r.removeSoon(ctx, gone)
		}
	})
}

// awaitClean returns nil when sandbox-init says, under the last job's key, that the sandbox is as it was at first.
func (b *box) awaitClean() error {
	timeout := time.AfterFunc(cleanTimeout, b.hangUp)
	kind, payload, err := b.reader.Read()
	switch {
	case !timeout.Stop():
		return fmt.Errorf("sandbox-init was not done within %s", cleanTimeout)
	case err != nil:
		return err
	case kind != wire.TypeClean:
		return fmt.Errorf("frame %c: %.500s", kind, payload)
	}
	return nil
}
