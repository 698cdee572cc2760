package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAwaitSaysWhatItKnowsAtItsDeadline(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		ctx, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
		defer cancel()
		_, err := b.client.Await(ctx, id)
		var late *AwaitError
		require.ErrorAs(t, err, &late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, Running, late.Status.State)
		require.Equal(t, 1, late.Status.Attempt)
		require.ErrorContains(t, err, "still running after attempt 1")
		r.succeed("")
	})
}

func TestAwaitOfAnUnknownJobEndsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		for _, id := range []string{"nobody", "", "a}b{c", strings.Repeat("x", 65)} {
			_, err := b.client.Await(b.ctx, id)
			require.ErrorIs(t, err, ErrNotFound)
			_, err = b.client.Result(b.ctx, id)
			require.ErrorIs(t, err, ErrNotFound)
			_, err = b.client.Status(b.ctx, id)
			require.ErrorIs(t, err, ErrNotFound)
			_, err = b.client.Cancel(b.ctx, id)
			require.ErrorIs(t, err, ErrNotFound)
		}
	})
}

func TestResultOfAWaitingJobIsNotDone(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		_, err := b.client.Result(b.ctx, b.submit(job("1")))
		require.ErrorIs(t, err, ErrNotDone)
	})
}

func TestAwaitOfABrokenResultEndsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		id := b.submit(job("1"))
		b.await(id)
		require.NoError(t, b.rdb.Set(b.ctx, "sandloop:{"+id+"}:result", "zbroken", 0).Err())
		_, err := b.client.Await(b.ctx, id)
		require.ErrorContains(t, err, "decode result of job "+id)
	})
}

// Without the sweep, what was there before the subscription is found when it is confirmed.
func TestAwaitLooksOnceItIsSubscribed(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		id := b.submit(job("1"))
		b.await(id)
		client := NewClient(b.rdb, ClientOptions{})
		client.hub = newHub(b.ctx, client.store, time.Hour)
		defer func() { require.NoError(t, client.Close()) }()
		for range 3 { // later ones find the channel just left, or not left yet
			ctx, cancel := context.WithTimeout(b.ctx, bound)
			record, err := client.Await(ctx, id)
			require.NoError(t, ctx.Err(), "it was not the last look at the deadline")
			cancel()
			require.NoError(t, err)
			require.Equal(t, "1", string(record.Result.Stdout.Data))
		}
	})
}

// The message that the job is done was lost: nobody sent one.
func TestAwaitFindsOutWithoutAMessage(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		outputs := make(chan string, 1)
		go func() { outputs <- string(b.await(id).Result.Stdout.Data) }()
		channel := "sandloop:done:" + id
		eventually(t, func() bool {
			n, err := b.rdb.PubSubNumSub(b.ctx, channel).Result()
			return err == nil && n[channel] == 1
		}, "somebody waits")
		packed := packResult(okResult("silent"))
		require.NoError(t, b.rdb.Set(b.ctx, "sandloop:{"+id+"}:result", packed, 0).Err())
		require.NoError(t, b.rdb.HSet(b.ctx, "sandloop:{"+id+"}:state", "state", "done").Err())
		require.Equal(t, "silent", receive(t, outputs))
	})
}

func TestAwaitEndsWhenTheClientIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := NewClient(b.rdb, ClientOptions{})
	id := b.submit(job("1"))
	failed := make(chan error, 1)
	go func() { _, err := client.Await(b.ctx, id); failed <- err }()
	eventually(t, func() bool { // only then is somebody waiting
		n, err := b.rdb.PubSubNumSub(b.ctx, "sandloop:done:"+id).Result()
		return err == nil && n["sandloop:done:"+id] == 1
	}, "subscription")
	require.NoError(t, client.Close())
	require.ErrorIs(t, receive(t, failed), ErrClosed)
	_, err := client.Await(b.ctx, id)
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, client.Close(), "closing twice is as closing once")
}

func TestManyWaitForTheSameJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		outputs := make(chan string, 50)
		for range 50 {
			go func() {
				record, err := b.client.Await(b.ctx, id)
				outputs <- fmt.Sprint(string(record.Result.Stdout.Data), err)
			}()
		}
		r.succeed("once")
		for range 50 {
			require.Equal(t, "once<nil>", receive(t, outputs))
		}
	})
}

// Every connection is cut again and again, the subscription among them.
func TestNoResultIsLostOverCutConnections(t *testing.T) {
	t.Parallel()
	const count = 2000
	b := setup(t)
	b.start(echoRunner{}, func(o *WorkerOptions) { o.Concurrency = 8 })
	all := make([]Job, count)
	for i := range all {
		all[i] = job(fmt.Sprint(i))
	}
	submissions, err := b.client.SubmitMany(b.ctx, all)
	require.NoError(t, err)

	done := make(chan struct{})
	var killer sync.WaitGroup
	kills := 0
	killer.Go(func() {
		admin := connect(t, b.addr)
		tick := time.NewTicker(150 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for _, kind := range []string{"pubsub", "normal"} {
				n, err := admin.rdb.ClientKillByFilter(b.ctx, "TYPE", kind, "SKIPME", "yes").Result()
				if err == nil {
					kills += int(n)
				}
			}
		}
	})
	wrong := make(chan string, count)
	var waiting sync.WaitGroup
	for i, submission := range submissions {
		waiting.Go(func() {
			record, err := b.client.Await(b.ctx, submission.ID)
			if err != nil || string(record.Result.Stdout.Data) != fmt.Sprint(i) {
				wrong <- fmt.Sprintf("job %d: %q %v", i, record.Result.Stdout.Data, err)
			}
		})
	}
	waiting.Wait()
	close(done)
	killer.Wait()
	close(wrong)
	for problem := range wrong {
		require.Fail(t, problem)
	}
	require.Greater(t, kills, 10, "connections were cut")
	t.Logf("%d connections were cut", kills)
}

func TestTenThousandWaitersUseFewConnections(t *testing.T) {
	t.Parallel()
	const count = 10_000
	b := setup(t)
	all := make([]Job, count)
	for i := range all {
		all[i] = job(fmt.Sprint(i))
	}
	submissions, err := b.client.SubmitMany(b.ctx, all)
	require.NoError(t, err)
	ended := make(chan error, count)
	for _, submission := range submissions {
		go func() {
			_, err := b.client.Await(b.ctx, submission.ID)
			ended <- err
		}()
	}
	subscribed := func() int {
		channels, err := b.rdb.PubSubChannels(b.ctx, "sandloop:done:*").Result()
		require.NoError(t, err)
		return len(channels)
	}
	eventually(t, func() bool { return subscribed() == count }, "subscriptions")
	list, err := b.rdb.Do(b.ctx, "CLIENT", "LIST", "TYPE", "pubsub").Text()
	require.NoError(t, err)
	require.Contains(t, list, "sub=10000", "all on one connection")
	b.start(echoRunner{}, func(o *WorkerOptions) { o.Concurrency = 16 })
	for range count {
		require.NoError(t, receive(t, ended))
	}
	eventually(t, func() bool { return subscribed() == 0 }, "subscriptions end")
}
