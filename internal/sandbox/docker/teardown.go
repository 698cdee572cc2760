package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// removeTimeout bounds the removal of one container.
const removeTimeout = 30 * time.Second

// remove takes a container away, whatever it is doing, also when ctx has ended. Its
// connection is closed. A container that is gone, or that the daemon is removing, is a success.
func (r *Runner) remove(ctx context.Context, b *box) error {
	defer r.open.Add(-1)
	if b.conn.Conn != nil {
		b.hangUp()
	}
	return r.removeID(ctx, b.id)
}

func (r *Runner) removeID(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := r.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %.12s: %w", id, err)
	}
	return nil
}

// removeSoon removes a container behind the caller's back while fewer than
// Options.TearDowns removals go on, and else before it returns, so that they cannot pile up.
func (r *Runner) removeSoon(ctx context.Context, b *box) {
	select {
	case r.tearDowns <- struct{}{}:
	default:
		r.removeLogged(ctx, b)
		return
	}
	r.background.Add(1)
	go func() {
		defer r.background.Done()
		defer func() { <-r.tearDowns }()
		r.removeLogged(ctx, b)
	}()
}

func (r *Runner) removeLogged(ctx context.Context, b *box) {
	if err := r.remove(ctx, b); err != nil {
		r.options.Log.Error("container was not removed; the reaper will try again", "container", b.id, "err", err)
	}
}
