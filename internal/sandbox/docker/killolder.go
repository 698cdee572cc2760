package docker

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// KillOlder removes the containers of the job's attempts below attempt that this daemon
// has, whichever worker of this installation they belong to. None is a success.
func (r *Runner) KillOlder(ctx context.Context, jobID string, attempt int) error {
	containers, err := r.docker.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(
		filters.Arg("label", labels.Installation+"="+r.options.Installation),
		filters.Arg("name", "^/"+regexp.QuoteMeta(labels.JobNamePrefix(jobID))),
	)})
	if err != nil {
		return fmt.Errorf("list containers of job %s: %w", jobID, err)
	}
	var errs []error
	for _, c := range containers {
		for _, name := range c.Names {
			if of, found := labels.AttemptOf(name, jobID); found && of < attempt {
				errs = append(errs, r.removeID(ctx, c.ID))
			}
		}
	}
	return errors.Join(errs...)
}
