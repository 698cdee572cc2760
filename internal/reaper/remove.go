package reaper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	removeTimeout = 30 * time.Second
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

// remove takes away a container in whatever state. That it is gone, or that someone else
// is removing it, is success.
func (r *Reaper) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err := r.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %.12s: %w", id, err)
	}
	return nil
}

func describe(c container.Summary, reason string) Removed {
	removed := Removed{ID: c.ID, Job: c.Labels[labels.Job], Owner: c.Labels[labels.Owner], Reason: reason}
	if len(c.Names) > 0 {
		removed.Name = c.Names[0][1:] // Docker puts a slash before it
	}
	return removed
}
