package reaper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// sweepNetworks removes the networks of sandboxes whose worker is dead. Their containers went before; where one has not gone yet, the
// daemon refuses, and the next sweep tries again.
func (r *Reaper) sweepNetworks(ctx context.Context, now time.Time) (removed []string, err error) {
	lanes := r.ours()
	lanes.Add("label", labels.Role+"="+labels.RoleLane)
	list, err := r.docker.NetworkList(ctx, network.ListOptions{Filters: lanes})
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	var asked []container.Summary // owners are asked about in the same way
	for _, n := range list {
		owner := n.Labels[labels.Owner]
		if n.Labels[labels.Installation] == r.options.Installation && owner != "" && owner != r.options.Self && now.Sub(n.Created) >= r.options.Grace {
			asked = append(asked, container.Summary{ID: n.ID, Names: []string{n.Name}, Labels: n.Labels})
		}
	}
	suspects, err := r.ownerless(ctx, asked)
	if err != nil {
		return nil, err
	}
	orphans, err := r.confirm(ctx, suspects)
	errs := []error{err}
	for _, n := range orphans {
		switch err := r.docker.NetworkRemove(ctx, n.ID); {
		case err == nil:
			removed = append(removed, n.Names[0])
			r.options.Log.Info("removed network", "network", n.Names[0], "owner", n.Labels[labels.Owner], "reason", "owner is dead")
		case !errdefs.IsNotFound(err) && !errdefs.IsPermissionDenied(err) && !errdefs.IsConflict(err): // the last two: it is in use
			errs = append(errs, fmt.Errorf("remove network %s: %w", n.Names[0], err))
		}
	}
	return removed, errors.Join(errs...)
}
