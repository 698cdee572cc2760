package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

const (
	// removeTimeout bounds the removal of one container, all tries included.
	removeTimeout = 30 * time.Second
	// leaveTimeout is what a container has to go by itself once its sandbox-init ends.
	leaveTimeout = 3 * time.Second
	removeRetry  = 50 * time.Millisecond
)

// remove takes a container away, whatever it is doing, also when ctx has ended. Its
// connection is closed. A container that is gone is a success.
func (r *Runner) remove(ctx context.Context, b *box) error {
	defer r.open.Add(-1)
	if b.conn.Conn != nil {
		b.hangUp()
	}
	return errors.Join(r.removeID(ctx, b.id), r.leaveLane(ctx, b))
}

// removeID tries until the container is gone. The daemon's own AutoRemove may be at it at the same
// time, and the two can make each other fail half-way; a further try then succeeds.
func (r *Runner) removeID(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	for {
		err := r.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		if client.IsErrConnectionFailed(err) { // then the container loses its worker, and goes by itself
			return fmt.Errorf("remove container %.12s: %w", id, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove container %.12s: %w", id, err)
		case <-time.After(removeRetry):
		}
	}
}

// removeSoon removes a container whose sandbox-init has nothing more to do. That goes on behind
// the caller's back while fewer than Options.TearDowns removals do, and else before
// it returns, so that they cannot pile up.
func (r *Runner) removeSoon(ctx context.Context, b *box) {
	select {
	case r.tearDowns <- struct{}{}:
	default:
		r.dismiss(ctx, b)
		return
	}
	r.background.Go(func() {
		defer func() { <-r.tearDowns }()
		r.dismiss(ctx, b)
	})
}

// dismiss lets a container go by itself, which costs the daemon less than a kill, and removes it if it does not.
func (r *Runner) dismiss(ctx context.Context, b *box) {
	b.hangUp()
	if r.leaves(ctx, b.id) {
		defer r.open.Add(-1)
		if err := r.leaveLane(ctx, b); err != nil {
			r.options.Log.Error("network was not removed; the reaper will try when this worker has ended", "container", b.id, "err", err)
		}
		return
	}
	r.removeLogged(ctx, b)
}

// leaves waits for the daemon's AutoRemove and tells whether it was done.
func (r *Runner) leaves(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	ended, failed := r.docker.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case status := <-ended:
		return status.Error == nil
	case err := <-failed:
		return errdefs.IsNotFound(err)
	}
}

func (r *Runner) removeLogged(ctx context.Context, b *box) {
	if err := r.remove(ctx, b); err != nil {
		r.options.Log.Error("container was not removed; the reaper will try again", "container", b.id, "err", err)
	}
}
