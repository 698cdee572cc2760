package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestJobComesBackWithItsResult(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner)
		id := b.submit(job("print(42)"))
		r := receive(t, runner.runs)
		require.Equal(t, "print(42)", string(r.program.Source))
		require.Equal(t, id, r.program.ID)
		require.Equal(t, 1, r.program.Attempt)
		status, err := b.client.Status(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, Running, status.State)
		require.Equal(t, w.ID(), status.Worker)
		r.succeed("42\n")
		record := b.await(id)
		require.Equal(t, "42\n", string(record.Result.Stdout.Data))
		require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome)
		require.Equal(t, Default, record.Queue)
		require.Equal(t, "alice", record.Tenant)
		require.Len(t, record.Attempts, 1)
		require.Equal(t, Attempt{Number: 1, Worker: w.ID(), Started: record.Attempts[0].Started, Ended: record.Attempts[0].Ended}, record.Attempts[0])
		require.False(t, record.FinishedAt.Before(record.Attempts[0].Started))
		require.Positive(t, record.Result.QueueTime)
		w.stop(t)
		require.EqualValues(t, 1, w.Counters().Finished.Load())
	})
}
