package toolbox

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
)

// submitTime bounds how long a call tries to hand in a job.
const submitTime = 10 * time.Second

// submit hands in a job. Its id is known before, so that one of which Redis did not say that it has it can be canceled.
func (t *Toolbox) submit(ctx context.Context, job jobs.Job) (id string, problem *agent.ToolResult) {
	refused := func(format string, args ...any) *agent.ToolResult {
		result := problemf(format, args...)
		return &result
	}
	job.IdempotencyKey = rand.Text()
	if err := job.Validate(); err != nil {
		return "", refused("nothing was run, since the call asks for what cannot be: %s. Change that and call again", oneLine(err))
	}
	id = jobs.KeyedID(job.Tenant, job.IdempotencyKey)
	bounded, cancel := context.WithTimeout(ctx, submitTime)
	defer cancel()
	_, err := t.options.Jobs.Submit(bounded, job)
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, jobs.ErrTooLarge):
		return "", refused("nothing was run: %s. Pass less code, files and stdin", oneLine(err))
	}
	t.cancel(ctx, id)
	if ctx.Err() != nil {
		return "", refused("canceled before it ran, since the run was ended")
	}
	return "", refused("nothing was run, since the queue cannot be reached (%s). This is not your doing. Try once more; if it stays so, say in your answer that the sandbox is out of order", oneLine(err))
}

// oneLine is an error as part of a sentence.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// cancelTime bounds how long a call tries to cancel its job.
const cancelTime = 2 * time.Second

// cancel ends a job also when ctx has ended. One that cannot be canceled ends at its own limit.
func (t *Toolbox) cancel(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_, _ = t.options.Jobs.Cancel(ctx, id)
}
