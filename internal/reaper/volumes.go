package reaper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// sweepVolumes removes volumes with a sandbox-init that no container and no current worker uses.
func (r *Reaper) sweepVolumes(ctx context.Context, now time.Time) (removed []string, err error) {
	dangling := r.ours()
	dangling.Add("dangling", "true")
	dangling.Add("label", labels.Role+"="+labels.RoleInitVolume)
	list, err := r.docker.VolumeList(ctx, volume.ListOptions{Filters: dangling})
	if err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	var errs []error
	for _, v := range list.Volumes {
		if !r.volumeIsOld(v, now) {
			continue
		}
		// Without force, so that the daemon refuses if a container has come to use it.
		switch err := r.docker.VolumeRemove(ctx, v.Name, false); {
		case err == nil:
			removed = append(removed, v.Name)
			r.options.Log.Info("removed volume", "volume", v.Name, "reason", "no container uses it")
		case !errdefs.IsNotFound(err) && !errdefs.IsConflict(err):
			errs = append(errs, fmt.Errorf("remove volume %s: %w", v.Name, err))
		}
	}
	return removed, errors.Join(errs...)
}

func (r *Reaper) volumeIsOld(v *volume.Volume, now time.Time) bool {
	if slices.Contains(r.options.Volumes, v.Name) || v.Labels[labels.Installation] != r.options.Installation {
		return false
	}
	created, err := time.Parse(time.RFC3339Nano, v.CreatedAt)
	return err == nil && now.Sub(created) > r.options.VolumeAge
}
