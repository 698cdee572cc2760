package reaper

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// settle looks at the containers that are listed as being removed. Docker goes on to list some that are gone, which
// are left out, and some whose removal failed half-way, which are dead and which nobody else will remove.
func (r *Reaper) settle(ctx context.Context, all []container.Summary) (settled []container.Summary, err error) {
	var errs []error
	for _, c := range all {
		if c.State == container.StateRemoving {
			found, err := r.docker.ContainerInspect(ctx, c.ID)
			switch {
			case errdefs.IsNotFound(err):
				continue
			case err != nil:
				errs = append(errs, fmt.Errorf("inspect container %.12s: %w", c.ID, err))
			case found.ContainerJSONBase != nil && found.State != nil:
				c.State = found.State.Status
			}
		}
		settled = append(settled, c)
	}
	return settled, errors.Join(errs...)
}
