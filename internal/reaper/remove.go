package reaper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	// removeTimeout bounds the removal of one container, all tries included.
	removeTimeout = 30 * time.Second
	removeTries   = 3
	removePause   = 50 * time.Millisecond
	// removals bounds how many removals go on at once, since jobs need the daemon too.
	removals = 4
)

// removeAll removes containers with their anonymous volumes and returns those that are gone.
func (r *Reaper) removeAll(ctx context.Context, doomed []container.Summary, reason string) ([]Removed, error) {
	var (
		group   errgroup.Group
		mu      sync.Mutex
		removed []Removed
		errs    []error
	)
	group.SetLimit(removals)
	for _, c := range doomed {
		group.Go(func() error {
			gone := describe(c, reason)
			err := r.remove(ctx, c.ID)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return nil
			}
			removed = append(removed, gone)
			r.options.Log.Info("removed container", "container", gone.ID, "name", gone.Name, "job", gone.Job, "owner", gone.Owner, "reason", reason)
			return nil
		})
	}
	_ = group.Wait() // errors are collected above, so that one does not hide the others
	return removed, errors.Join(errs...)
}

// remove takes away a container in whatever state. That it is gone is success. The daemon's own
// AutoRemove, or another worker, may be at it at the same time, and the two can make each other fail half-way:
// so it tries until the container is gone, and where nobody else is at it, a few times.
func (r *Reaper) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	for failures := 0; ; {
		err := r.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		if !errdefs.IsConflict(err) {
			failures++
		}
		if failures == removeTries || client.IsErrConnectionFailed(err) {
			return fmt.Errorf("remove container %.12s: %w", id, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove container %.12s: %w", id, err)
		case <-time.After(removePause):
		}
	}
}

func describe(c container.Summary, reason string) Removed {
	removed := Removed{ID: c.ID, Job: c.Labels[labels.Job], Owner: c.Labels[labels.Owner], Reason: reason}
	if len(c.Names) > 0 {
		removed.Name = strings.TrimPrefix(c.Names[0], "/")
	}
	return removed
}
