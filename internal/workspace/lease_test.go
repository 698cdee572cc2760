package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAJobFindsWhatTheOneBeforeItLeft(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		first := b.acquire("1")
		files, err := first.Files(b.ctx)
		require.NoError(t, err)
		require.Empty(t, files)
		require.Zero(t, first.Head.Version)
		tool := file("bin/tool", "#!/bin/sh")
		tool.Executable = true
		b.commit(first, file("b.txt", "two"), tool, file("a.txt", "one"))
		require.EqualValues(t, 1, first.Head.Version)
		require.NoError(t, first.Release(b.ctx))

		second := b.acquire("2")
		require.Greater(t, second.Fence(), first.Fence())
		require.EqualValues(t, 1, second.Head.Version)
		require.Equal(t, 3, second.Head.Files)
		require.EqualValues(t, 3+3+9, second.Head.Bytes)
		files, err = second.Files(b.ctx)
		require.NoError(t, err)
		require.Equal(t, "a.txt", files[0].Path)
		require.Equal(t, tool, files[2])
		b.commit(second)
		require.EqualValues(t, 2, second.Head.Version)
		require.NoError(t, second.Release(b.ctx))
		b.holds()
	})
}

func TestTwoJobsNeverHaveASessionAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		first := b.acquire("1")
		_, err := b.Acquire(b.ctx, notes, "worker-2", "2")
		require.ErrorIs(t, err, ErrBusy)
		require.EqualError(t, err, `session "notes" has job 1 on worker-1: the session is in use`)
		_, err = b.AcquireWait(b.ctx, notes, "worker-2", "2", time.Millisecond)
		require.ErrorIs(t, err, ErrBusy)
		info, err := b.Info(b.ctx, notes)
		require.NoError(t, err)
		require.Equal(t, &User{Owner: "worker-1", Job: "1"}, info.Busy)

		other, err := b.Acquire(b.ctx, Session{Tenant: "bob", Name: "notes"}, "worker-2", "2")
		require.NoError(t, err, "the same name is another session of another tenant")
		require.NoError(t, other.Release(b.ctx))
		require.NoError(t, first.Release(b.ctx))
		require.NoError(t, first.Release(b.ctx), "once more does no harm")
		info, err = b.Info(b.ctx, notes)
		require.NoError(t, err)
		require.Nil(t, info.Busy)
		require.NoError(t, b.acquire("2").Release(b.ctx))
	})
}

func TestALeaseThatIsOverChangesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		paused := b.acquire("1")
		b.commit(paused, file("a", "good"))
		b.runOut()
		next := b.acquire("2")
		require.Greater(t, next.Fence(), paused.Fence())

		require.ErrorIs(t, paused.Commit(b.ctx, Commit{Files: nil, Result: []byte("late")}), ErrFenced)
		require.ErrorIs(t, paused.Commit(b.ctx, Commit{Unchanged: true, Result: []byte("late")}), ErrFenced)
		require.ErrorIs(t, paused.Hold(b.ctx, Holder{Worker: "w", Language: "python", Nonce: "n"}), ErrFenced)
		require.ErrorIs(t, paused.renew(b.ctx, paused.fence()), ErrFenced)
		require.NoError(t, paused.Release(b.ctx), "it is over, which is what is wanted")
		_, err := b.Acquire(b.ctx, notes, "worker-3", "3")
		require.ErrorIs(t, err, ErrBusy, "the lease of the next is as it was")
		b.holds(file("a", "good"))

		b.commit(next, file("a", "better"))
		_, err = paused.Files(b.ctx)
		require.ErrorIs(t, err, ErrFenced)
		require.NoError(t, next.Release(b.ctx))
		b.holds(file("a", "better"))
		again := b.acquire("1")
		require.Nil(t, again.Committed, "nothing of the late result was stored")
	})
}

func TestALeaseThatRanOutAndThatNobodyTookStillCommits(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		b.runOut()
		b.commit(lease, file("a", "one"))
		require.NoError(t, lease.renew(b.ctx, lease.fence()))
		_, err := b.Acquire(b.ctx, notes, "worker-2", "2")
		require.ErrorIs(t, err, ErrBusy, "it holds again")
		b.holds(file("a", "one"))
	})
}

func TestAfterItsReleaseALeaseIsOver(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		require.NoError(t, lease.Release(b.ctx))
		require.ErrorIs(t, lease.Commit(b.ctx, Commit{Unchanged: true}), ErrFenced)
		require.ErrorIs(t, lease.renew(b.ctx, lease.fence()), ErrFenced, "a late renewal does not bring it back")
		require.NoError(t, b.acquire("2").Release(b.ctx))
	})
}

func TestALeaseHoldsForFiveSeconds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.acquire("1")
	left := b.rdb.PTTL(b.ctx, b.keys.lease(notes)).Val()
	require.Greater(t, left, time.Duration(0))
	require.LessOrEqual(t, left, 5*time.Second)
}

func TestKeepRenewsTheLeaseAndTheTimeForWhichTheSessionIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lease := b.acquire("1")
	b.commit(lease, file("a", "one"))
	for _, key := range b.keys.session(notes) {
		require.NoError(t, b.rdb.PExpire(b.ctx, key, 3*time.Second).Err())
	}
	require.NoError(t, b.rdb.Del(b.ctx, b.keys.index("alice")).Err())
	kept, stop := lease.Keep(b.ctx)
	for at, least := range map[string]time.Duration{
		b.keys.lease(notes): 3 * time.Second, b.keys.head(notes): 23 * time.Hour, b.keys.files(notes): 24 * time.Hour, b.keys.index("alice"): 23 * time.Hour,
	} {
		require.Eventually(t, func() bool { return b.rdb.PTTL(b.ctx, at).Val() > least }, bound, 5*time.Millisecond, at)
	}
	stop()
	require.ErrorIs(t, context.Cause(kept), context.Canceled)
}

// What a canceled job still does, such as to end its container, must not be beside the next one.
func TestKeepGoesOnAfterTheEndOfTheJobUntilItIsStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lease := b.acquire("1")
	ctx, cancel := context.WithCancelCause(b.ctx)
	kept, stop := lease.Keep(ctx)
	reason := errors.New("canceled by someone")
	cancel(reason)
	<-kept.Done()
	require.ErrorIs(t, context.Cause(kept), reason)
	for range 2 {
		require.NoError(t, b.rdb.PExpire(b.ctx, b.keys.lease(notes), 3*time.Second).Err())
		require.Eventually(t, func() bool { return b.rdb.PTTL(b.ctx, b.keys.lease(notes)).Val() > 3*time.Second }, bound, 5*time.Millisecond)
	}
	stop()
	require.NoError(t, b.rdb.PExpire(b.ctx, b.keys.lease(notes), 100*time.Millisecond).Err())
	require.Eventually(t, func() bool { return b.rdb.Exists(b.ctx, b.keys.lease(notes)).Val() == 0 }, bound, 5*time.Millisecond)
}

func TestKeepTellsThatTheLeaseIsLost(t *testing.T) {
	for name, lose := range map[string]func(*bundle){
		"to another job": func(b *bundle) { b.runOut(); b.acquire("2") },
		"with the session": func(b *bundle) {
			require.NoError(b.t, b.Delete(b.ctx, notes))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			kept, stop := b.acquire("1").Keep(b.ctx)
			defer stop()
			require.NoError(t, kept.Err())
			lose(b)
			select {
			case <-kept.Done():
			case <-time.After(bound):
			}
			require.ErrorIs(t, context.Cause(kept), ErrFenced)
		})
	}
}

func TestKeepGoesOnWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	b, server := setupServer(t)
	lease := b.acquire("1")
	b.commit(lease, file("a", "one"))
	kept, stop := lease.Keep(b.ctx)
	defer stop()
	server.away(t)
	require.Eventually(t, server.failed, bound, 5*time.Millisecond, "a renewal failed")
	require.NoError(t, kept.Err())
	server.back(t)
	b.commit(lease, file("a", "two"))
	b.holds(file("a", "two"))
}

func TestOneThatWaitsGetsTheSessionWithItsRelease(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		first := b.acquire("1")
		b.look = time.Hour // so it has to hear of it
		ended := make(chan error, 1)
		var next *Lease
		go func() {
			var err error
			next, err = b.AcquireWait(b.ctx, notes, "worker-2", "2", bound)
			ended <- err
		}()
		b.waiting()
		require.NoError(t, first.Release(b.ctx))
		require.NoError(t, <-ended)
		require.NoError(t, next.Release(b.ctx))
	})
}

func TestOneThatWaitsGetsTheSessionOfADeadWorker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.acquire("1")
	require.NoError(t, b.rdb.PExpire(b.ctx, b.keys.lease(notes), 100*time.Millisecond).Err())
	lease, err := b.AcquireWait(b.ctx, notes, "worker-2", "2", bound)
	require.NoError(t, err)
	require.NoError(t, lease.Release(b.ctx))
}

func TestOneThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.acquire("1")
	ctx, cancel := context.WithCancelCause(b.ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := b.AcquireWait(ctx, notes, "worker-2", "2", bound)
		ended <- err
	}()
	b.waiting()
	reason := errors.New("canceled by someone")
	cancel(reason)
	require.ErrorIs(t, <-ended, reason)
}

// The end of a context may be noticed by whoever asks Redis: the reason is the same.
func TestOneThatAsksEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(b.ctx)
	reason := errors.New("canceled by someone")
	cancel(reason)
	_, err := b.Acquire(ctx, notes, "worker-2", "2")
	require.ErrorIs(t, err, reason)
}

func TestManyJobsOfASessionRunOneAfterTheOther(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		const jobs = 20
		var all sync.WaitGroup
		var mu sync.Mutex
		inside, fence := 0, int64(0)
		for i := range jobs {
			all.Go(func() {
				lease, err := b.AcquireWait(b.ctx, notes, "worker", fmt.Sprint(i), bound)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				if inside > 1 || lease.Fence() <= fence {
					t.Errorf("%d jobs at once, number %d after %d", inside, lease.Fence(), fence)
				}
				fence = lease.Fence()
				mu.Unlock()
				files, err := lease.Files(b.ctx)
				if err == nil {
					err = lease.Commit(b.ctx, Commit{Files: append(files, file(fmt.Sprint(i), "x"))})
				}
				mu.Lock()
				inside--
				mu.Unlock()
				if err := errors.Join(err, lease.Release(b.ctx)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		info, err := b.Info(b.ctx, notes)
		require.NoError(t, err)
		require.Equal(t, jobs, info.Files, "no change was lost")
		require.EqualValues(t, jobs, info.Version)
	})
}

func TestTheNumberGrowsOverADeletedSession(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		before := int64(0)
		for range 50 {
			lease := b.acquire("1")
			require.Greater(t, lease.Fence(), before)
			before = lease.Fence()
			require.NoError(t, b.Delete(b.ctx, notes))
		}
	})
}
