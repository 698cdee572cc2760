package jobs

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestACancelTellsTheOwnerAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.ghost(id)
		pubsub := b.rdb.Subscribe(b.ctx, b.client.store.keys.cancelChannel("ghost"))
		defer func() { require.NoError(t, pubsub.Close()) }()
		_, err := pubsub.Receive(b.ctx)
		require.NoError(t, err)
		for range 2 { // the first may not have been heard
			_, err = b.client.Cancel(b.ctx, id)
			require.NoError(t, err)
			require.Equal(t, id, receive(t, pubsub.Channel()).Payload)
		}
	})
}

// afterBegin calls do when Redis has begun an attempt and the worker does not know yet.
type afterBegin struct{ do func() }

func (h afterBegin) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h afterBegin) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h afterBegin) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); err == nil && cmd.Name() == "evalsha" && args[1] == beginScript.Hash() {
			h.do()
		}
		return err
	}
}

func TestAHintThatOvertakesTheAnswerOfRedisIsNotLost(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		require.NoError(t, beginScript.Load(b.ctx, b.rdb).Err())
		id, own := b.submit(job("1")), connect(t, b.addr)
		var w *Worker
		own.rdb.AddHook(afterBegin{do: func() {
			_, err := b.client.Cancel(b.ctx, id)
			assert.NoError(t, err) //nolint:testifylint // not in the test's goroutine, which alone may end it
			assert.Eventually(t, func() bool {
				return slices.ContainsFunc(w.snapshot(), func(a *attempt) bool { return a.revoked.Load() })
			}, bound, time.Millisecond, "the hint has come")
		}})
		runner := newFakeRunner()
		w, err := NewWorker(WorkerOptions{Redis: own.rdb, Runner: runner})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(b.ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			assert.NoError(t, w.Run(ctx))
		}()
		t.Cleanup(func() { stop(); <-ended })
		r := receive(t, runner.runs)
		require.ErrorIs(t, context.Cause(r.ctx), sandbox.ErrCanceled, "and not a heartbeat later")
		require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
	})
}

func TestAfterEachSubscriptionCancelsAreLookedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(t, err)
	l := w.newListener(b.ctx, nil)
	ended := make(chan struct{})
	go func() { defer close(ended); l.run() }()
	receive(t, w.lookNow)
	require.NoError(t, b.rdb.(*redis.Client).ClientKillByFilter(b.ctx, "TYPE", "pubsub").Err())
	receive(t, w.lookNow)
	require.NoError(t, l.pubsub.Close())
	receive(t, ended)
}
