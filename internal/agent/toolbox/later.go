package toolbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/explain"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// waitDefault is how long wait_job waits when it is not told, and waitMost how long it can be told to.
	waitDefault = time.Minute
	waitMost    = 10 * time.Minute
)

// submitted is a job of submit_job.
type submitted struct {
	work
	// done is set once its end is known.
	done bool
}

// jobTools are the tools for work that is longer than a turn.
func (t *Toolbox) jobTools() []tool {
	return []tool{
		newTool("submit_job", t.describeSubmitJob(), t.codeArguments, t.submitJob),
		newTool("wait_job", describeWaitJob, all(timed(waitMost), notEmpty("id")), t.waitJob),
		newTool("cancel_job", describeCancelJob, notEmpty("id"), t.cancelJob),
	}
}

func (t *Toolbox) submitJob(ctx context.Context, a runCodeArguments, progress func(agent.Progress)) agent.ToolResult {
	language, err := t.options.Languages.Lookup(a.Language)
	if err != nil {
		return t.result(ctx, work{language: a.Language}, jobs.Record{Result: refusal(err)})
	}
	a.Language = language.Name
	program, err := a.program()
	if err != nil {
		return problemf("nothing was run: %v. Call again with that repaired", err)
	}
	program.Limits = t.limits(a.Timeout, t.options.MaxTimeout)
	w := work{language: a.Language, files: a.Files}
	job := t.job(w, program, false)
	job.Queue, job.Follow = jobs.Default, true
	id, problem := t.submit(ctx, job)
	if problem != nil {
		return *problem
	}
	t.mu.Lock()
	t.submitted[id] = submitted{work: w}
	t.mu.Unlock()
	newRelay(id, progress).state(string(jobs.Queued))
	return agent.ToolResult{JobID: id, Text: fmt.Sprintf("[submitted as job %s. Call wait_job with this id for its result, cancel_job to end it]", id)}
}

// unfinished returns the id of a job that this Toolbox submitted and that still has the session, or nothing.
func (t *Toolbox) unfinished(ctx context.Context) string {
	t.mu.Lock()
	var ids []string
	for id, job := range t.submitted {
		if !job.done {
			ids = append(ids, id)
		}
	}
	t.mu.Unlock()
	for _, id := range ids {
		status, err := t.options.Jobs.Status(ctx, id)
		switch {
		case err == nil && status.State != jobs.Done:
			return id
		case err == nil || errors.Is(err, jobs.ErrNotFound):
			t.settle(id)
		}
	}
	return ""
}

// settle notes that a job has ended.
func (t *Toolbox) settle(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if job, known := t.submitted[id]; known {
		job.done = true
		t.submitted[id] = job
	}
}

// find returns where a job is, and what is known of it here: nothing of one of an earlier process. Jobs of other
// tenants are as if they were not there.
func (t *Toolbox) find(ctx context.Context, id string) (work, jobs.Status, *agent.ToolResult) {
	t.mu.Lock()
	w := t.submitted[id].work
	t.mu.Unlock()
	status, err := t.options.Jobs.Status(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) || (err == nil && status.Tenant != t.options.Tenant) {
		result := problemf("there is no job %.80q. Use the id that submit_job gave; results are kept for a day or as long as the operator says", id)
		return w, status, &result
	}
	if err != nil {
		result := problemf("the queue cannot be reached (%s). This is not your doing: try once more; if it stays so, say in your answer that the sandbox is out of order", oneLine(err))
		return w, status, &result
	}
	return w, status, nil
}

// errStill is the cause with which the time to wait for a job ends.
var errStill = errors.New("the job has not ended")

func (t *Toolbox) waitJob(ctx context.Context, a waitJobArguments, progress func(agent.Progress)) agent.ToolResult {
	w, _, problem := t.find(ctx, a.ID)
	if problem != nil {
		return *problem
	}
	limit := waitDefault
	if a.Timeout > 0 {
		limit = time.Duration(a.Timeout * float64(time.Second))
	}
	waiting, stop := context.WithTimeoutCause(ctx, limit, errStill)
	defer stop()
	soFar := &collected{progress: progress}
	watching := t.watch(ctx, a.ID, soFar.take)
	defer watching.end()
	watching.follow() // from the start of the job, for what it wrote until now
	record, err := watching.wait(waiting)
	var gone *goneError
	var result agent.ToolResult
	switch {
	case err == nil:
		t.settle(a.ID)
		return t.result(ctx, w, record)
	case errors.As(err, &gone):
		t.settle(a.ID)
		result = problemf("%s", gone.advice)
	case errors.Is(err, errStill):
		result.Text = soFar.describe(w, t.options.Budget) + fmt.Sprintf("[the job %s is %s and has not ended within %s. The output is what came so far. Call wait_job again to wait on, or cancel_job]", a.ID, watching.state, seconds(limit))
	case ctx.Err() != nil:
		result = problemf("the wait for the job %s was ended, since the run was ended. The job goes on", a.ID)
	default:
		result = problemf("%s", err.Error())
	}
	result.JobID = a.ID
	return result
}

func (t *Toolbox) cancelJob(ctx context.Context, a cancelJobArguments, _ func(agent.Progress)) agent.ToolResult {
	w, status, problem := t.find(ctx, a.ID)
	if problem != nil {
		return *problem
	}
	if status.State == jobs.Done {
		t.settle(a.ID)
		return agent.ToolResult{JobID: a.ID, Text: fmt.Sprintf("[the job %s had ended already, with the outcome %s. Call wait_job with its id for its result]", a.ID, status.Outcome)}
	}
	watching := t.watch(ctx, a.ID, nil)
	defer watching.end()
	if _, err := t.options.Jobs.Cancel(ctx, a.ID); err != nil {
		return problemf("the job %s could not be canceled, since the queue cannot be reached (%s). Try once more", a.ID, oneLine(err))
	}
	record, known := watching.linger(ctx)
	if !known {
		return agent.ToolResult{JobID: a.ID, Text: fmt.Sprintf("[the job %s was told to end and has not yet. Call wait_job with its id to see it end]", a.ID)}
	}
	t.settle(a.ID)
	if record.Result.Outcome != sandbox.OutcomeCanceled {
		return t.result(ctx, w, record)
	}
	text := explain.Describe(explain.Call{Language: w.language, Result: record.Result}, t.options.Budget).Output
	if text != "" {
		text += "\n"
	}
	return agent.ToolResult{JobID: a.ID, Text: text + fmt.Sprintf("[the job %s is canceled; any output is what came until then]", a.ID)}
}
