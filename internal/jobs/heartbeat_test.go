package jobs

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// afterPipeline calls do once, when the first pipeline has been answered and before its sender knows.
type afterPipeline struct {
	once *sync.Once
	do   func()
}

func (afterPipeline) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (afterPipeline) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (h afterPipeline) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		h.once.Do(h.do)
		return err
	}
}

// The heartbeat has read the job's state when the attempt begins.
func TestAttemptThatBeginsDuringAHeartbeatIsNotLost(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(b.ctx)
		defer cancel(nil)
		a := &attempt{ref: ref{ID: b.submit(job("1")), Dispatch: 1}, token: newToken(), cancel: cancel}
		w.register(a)
		var begun beginning
		b.rdb.AddHook(afterPipeline{new(sync.Once), func() {
			begun, err = w.begin(b.ctx, a.ref, a.token)
			a.begun.Store(true)
		}})
		for range 2 {
			require.NoError(t, w.beat(b.ctx, WorkerInfo{}))
			require.NoError(t, err)
			require.Equal(t, "run", begun.verdict)
			require.NoError(t, context.Cause(ctx))
		}
	})
}
