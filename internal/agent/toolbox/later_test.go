package toolbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAJobIsSubmittedAndWaitedFor(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, inSession())
	got := call(t, box, "submit_job", object{"language": "js", "code": "1"}, nil)
	require.False(t, got.IsError)
	id := got.JobID
	require.Equal(t, "[submitted as job "+id+". Call wait_job with this id for its result, cancel_job to end it]", got.Text)
	job := queue.submitted[0]
	require.Equal(t, jobs.Default, job.Queue)
	require.True(t, job.Follow)
	require.Equal(t, "node", job.Program.Language)
	require.Equal(t, jobs.Session{Name: "s1"}, *job.Session, "it is not live, whose interpreter it would keep")
	require.Equal(t, 15*time.Minute, job.Program.Limits.WallTime.Duration())

	blocked := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	require.True(t, blocked.IsError)
	require.Equal(t, "[nothing was run: the job "+id+" has the workspace until it ends. Call wait_job or cancel_job with its id before]", blocked.Text)

	queue.finish(ok("")) // a program of node's, which printed nothing
	got = call(t, box, "wait_job", object{"id": id}, nil)
	require.Equal(t, "[the program ran and printed nothing. What it does not print is not seen: use console.log(...)]", got.Text)
	queue.finish(ok("2\n"))
	require.Equal(t, "2", call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text)
}

func TestAJobThatEndedUnseenDoesNotKeepTheWorkspace(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, inSession())
	call(t, box, "submit_job", object{"language": "python", "code": "1"}, nil)
	queue.set(jobs.Done)
	queue.finish(ok("2\n"))
	require.Equal(t, "2", call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text)
	require.Empty(t, box.unfinished(t.Context()))
}

func TestAWaitThatIsOverTellsTheOutputSoFar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		id := call(t, box, "submit_job", object{"language": "python", "code": "1"}, nil).JobID
		queue.pieces = []sandbox.Output{
			{Step: "run", Stream: sandbox.Stdout, Data: sandbox.Bytes("old\n")},
			{Step: jobs.StepAttempt, Data: sandbox.Bytes("2")},
			{Step: "run", Stream: sandbox.Stdout, Data: sandbox.Bytes("step 1\n")},
			{Step: "run", Stream: sandbox.Stderr, Data: sandbox.Bytes("warning\n")},
		}
		queue.set(jobs.Running)
		begun := time.Now()
		got := call(t, box, "wait_job", object{"id": id, "timeout": 5}, nil)
		require.False(t, got.IsError)
		require.Equal(t, "step 1\n[stderr]\nwarning\n[the job "+id+" is running and has not ended within 5 s. The output is what came so far. Call wait_job again to wait on, or cancel_job]", got.Text)
		require.Equal(t, 5*time.Second, time.Since(begun))
		require.Empty(t, queue.canceled, "the job goes on")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got = callWithin(ctx, t, box, "wait_job", object{"id": id}, nil)
		require.True(t, got.IsError)
		require.Equal(t, "[the wait for the job "+id+" was ended, since the run was ended. The job goes on]", got.Text)
		require.Empty(t, queue.canceled)

		queue.pieces = queue.pieces[2:3]
		begun = time.Now()
		require.Equal(t, "step 1\n[the job "+id+" is running and has not ended within 60 s. The output is what came so far. Call wait_job again to wait on, or cancel_job]",
			call(t, box, "wait_job", object{"id": id}, nil).Text)
		require.Equal(t, time.Minute, time.Since(begun))
		box.Close()
	})
}

func TestAJobIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		id := call(t, box, "submit_job", object{"language": "python", "code": "1"}, nil).JobID
		queue.onCancel = canceledWith("step 1\n")
		got := call(t, box, "cancel_job", object{"id": id}, nil)
		require.False(t, got.IsError)
		require.Equal(t, "step 1\n[the job "+id+" is canceled; any output is what came until then]", got.Text)
		require.Equal(t, []string{id}, queue.canceled)

		queue.onCancel = nil
		require.Equal(t, "[the job "+id+" was told to end and has not yet. Call wait_job with its id to see it end]", call(t, box, "cancel_job", object{"id": id}, nil).Text)

		queue.onCancel = func(f *fakeJobs) { f.finish(ok("all\n")) }
		require.Equal(t, "all", call(t, box, "cancel_job", object{"id": id}, nil).Text, "it was faster")

		queue.status.State, queue.status.Outcome = jobs.Done, sandbox.OutcomeOK
		require.Equal(t, "[the job "+id+" had ended already, with the outcome ok. Call wait_job with its id for its result]", call(t, box, "cancel_job", object{"id": id}, nil).Text)
		box.Close()
	})
}

func TestJobsOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, func(o *Options) { o.Tenant = "bob" }) // the fake's jobs are alice's
	for _, tool := range []string{"wait_job", "cancel_job"} {
		got := call(t, box, tool, object{"id": "k1"}, nil)
		require.True(t, got.IsError)
		require.Contains(t, got.Text, "[there is no job \"k1\". Use the id that submit_job gave;")
	}
	require.Empty(t, queue.canceled)
}

func TestAJobWhoseQueueCannotBeReached(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.statusErr = errors.New("connection refused")
	got := call(t, box, "wait_job", object{"id": "k1"}, nil)
	require.True(t, got.IsError)
	require.Contains(t, got.Text, "[the queue cannot be reached (connection refused).")
	queue.statusErr = jobs.ErrNotFound
	require.Contains(t, call(t, box, "cancel_job", object{"id": "k1"}, nil).Text, "[there is no job \"k1\".")
}

func TestAbandonCancelsWhatHasNotEnded(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	ended := call(t, box, "submit_job", object{"language": "python", "code": "1"}, nil).JobID
	queue.finish(ok("2\n"))
	call(t, box, "wait_job", object{"id": ended}, nil)
	open := call(t, box, "submit_job", object{"language": "python", "code": "2"}, nil).JobID
	box.Abandon(t.Context())
	require.Equal(t, []string{open}, queue.canceled)
}
