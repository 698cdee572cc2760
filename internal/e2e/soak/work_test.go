package soak

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheSameSeedMakesTheSameJobsAndAllAreValid(t *testing.T) {
	t.Parallel()
	first, second := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	kinds, ids := map[string]int{}, map[string]bool{}
	for n := range 1000 {
		job, want := Plan(first, n)
		again, wantAgain := Plan(second, n)
		require.Equal(t, job, again)
		require.Equal(t, want, wantAgain)
		require.NoError(t, job.Validate())
		require.False(t, ids[job.ID], job.ID)
		ids[job.ID] = true
		kinds[want.Work]++
	}
	require.Len(t, kinds, len(works)+1, "%v", kinds)
}

func TestARecordBecomesWhatAHistoryKeeps(t *testing.T) {
	t.Parallel()
	record := jobs.Record{
		JobID: "a", SubmittedAt: at(1), FinishedAt: at(3), Grade: &grade.Report{Verdict: grade.WA},
		Result:   sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 7, Message: "m", Stdout: sandbox.NewStream([]byte("out"), nil, 3)},
		Attempts: []jobs.Attempt{{Number: 2, Worker: "w", Started: at(2), Ended: at(3), Error: "boom"}},
	}
	got, err := Of(record)
	require.NoError(t, err)
	whole := got.Print
	got.Print = ""
	require.Equal(t, &Got{
		Outcome: "nonzero_exit", ExitCode: 7, Verdict: "WA", Stdout: "out", Total: 3, Message: "m", Submitted: at(1), Finished: at(3),
		Attempts: []jobs.Attempt{{Number: 2, Worker: "w", Started: at(2), Ended: at(3), Error: "boom"}},
	}, got)
	record.FinishedAt = record.FinishedAt.Add(time.Nanosecond)
	later, err := Of(record)
	require.NoError(t, err)
	require.NotEqual(t, whole, later.Print, "the smallest difference shows")
}

func TestLongOutputsAreKeptAsTheirHash(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", Digest([]byte("short")))
	// head -c 201 /dev/zero | sha256sum | head -c 32
	require.Equal(t, "sha256:ab3df617aaa3140f04dc53f65b5446f3", Digest(make([]byte, 201)))
}
