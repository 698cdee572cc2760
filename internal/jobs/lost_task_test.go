package jobs

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// asynq brought a task again although its worker lives, and does not wait for that one's answer any more.
func TestTaskOfAJobThatRunsElsewhereIsKept(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		owner, a := b.ghost(id)
		require.NoError(t, b.rdb.Set(b.ctx, "sandloop:worker:ghost", "{}", 0).Err())
		runner := newFakeRunner()
		b.start(runner)
		eventually(t, func() bool {
			if b.pending() > 0 {
				return false
			}
			active, err := b.rdb.LLen(b.ctx, "asynq:{sandloop:default}:active").Result()
			return err == nil && active == 0
		}, "the task was looked at")
		reply, err := owner.release(b.ctx, a, releaseFailed, "no daemon")
		require.NoError(t, err)
		require.Equal(t, []string{"queued", "1"}, reply)
		r := receive(t, runner.runs)
		require.Equal(t, 2, r.program.Attempt)
		r.succeed("2")
		require.Len(t, b.await(id).Attempts, 2)
	})
}

// A master that took over did not know yet that the job had begun.
func TestJobWhoseBeginningRedisForgotRunsAgain(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner)
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		state := "sandloop:{" + id + "}:state"
		_, err := b.rdb.TxPipelined(b.ctx, func(pipe redis.Pipeliner) error {
			pipe.HSet(b.ctx, state, "state", "queued", "attempt", 0)
			pipe.HDel(b.ctx, state, "token", "owner", "started")
			return nil
		})
		require.NoError(t, err)
		r.succeed("of an attempt that is unknown")
		receive(t, runner.runs).succeed("right")
		require.Equal(t, "right", string(b.await(id).Result.Stdout.Data))
		require.EqualValues(t, 1, w.Counters().Dropped.Load())
	})
}
