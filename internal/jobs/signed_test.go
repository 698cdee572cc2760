package jobs

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

// keysOf makes keys, of which the first is in use.
func keysOf(t testing.TB, secrets ...string) *seal.Keys {
	t.Helper()
	var content []byte
	for _, secret := range secrets {
		content = append(content, secret+" of a test, 32 bytes and more\n"...)
	}
	keys, err := seal.ParseKeys(content)
	require.NoError(t, err)
	return keys
}

// use gives the bundle's client other keys.
func (b *bundle) use(sign, seals *seal.Keys) {
	b.t.Helper()
	require.NoError(b.t, b.client.Close())
	b.client = NewClient(b.rdb, ClientOptions{Log: testLog(b.t), SignKeys: sign, SealKeys: seals})
}

func verifying(keys *seal.Keys) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.VerifyKeys = keys }
}

func TestASignedJobRunsOnEveryWayThatItTakes(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(keysOf(t, "old"), nil)
		runner := newFakeRunner()
		w := b.start(runner, verifying(keysOf(t, "new", "old")), func(o *WorkerOptions) { o.MaxAttempts = 2 })
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		again := receive(t, runner.runs) // a dispatch later, with the signature of the first
		w.cancel()                       // and given back at shutdown
		<-again.ctx.Done()
		<-w.ended
		b.start(echoRunner{}, verifying(keysOf(t, "old")))
		require.Equal(t, "1", string(b.await(id).Result.Stdout.Data))
	})
}

// Whoever can write to Redis and has no key changes one thing of a signed job.
func TestWhatWasNotSignedAsItIsIsNotRun(t *testing.T) {
	t.Parallel()
	const forged = "its signature does not fit"
	set := func(field string, value any) func(*bundle, string, string) {
		return func(b *bundle, id, _ string) {
			require.NoError(b.t, b.rdb.HSet(b.ctx, b.client.store.keys.state(id), field, value).Err())
		}
	}
	for name, c := range map[string]struct {
		tamper func(b *bundle, id, other string)
		want   string
	}{
		"another body": {func(b *bundle, id, _ string) {
			body, _, err := job("evil").encode()
			require.NoError(b.t, err)
			require.NoError(b.t, b.rdb.Set(b.ctx, b.client.store.keys.body(id), pack(body), 0).Err())
		}, forged},
		"a byte more in the body": {func(b *bundle, id, _ string) {
			require.NoError(b.t, b.rdb.Append(b.ctx, b.client.store.keys.body(id), " ").Err())
		}, forged},
		"no body": {func(b *bundle, id, _ string) {
			require.NoError(b.t, b.rdb.Del(b.ctx, b.client.store.keys.body(id)).Err())
		}, forged},
		"another tenant":             {set(fieldTenant, "mallory"), forged},
		"another queue":              {set(fieldQueue, "batch"), forged},
		"another time of submission": {set(fieldSubmitted, formatTime(time.Now())), forged},
		"no signature": {func(b *bundle, id, _ string) {
			require.NoError(b.t, b.rdb.HDel(b.ctx, b.client.store.keys.state(id), "signature").Err())
		}, "it is not signed"},
		"a signature of nothing": {set("signature", "x"), forged},
		"a signature by another key": {func(b *bundle, id, _ string) {
			body, err := b.rdb.Get(b.ctx, b.client.store.keys.body(id)).Bytes()
			require.NoError(b.t, err)
			status, err := b.client.Status(b.ctx, id)
			require.NoError(b.t, err)
			fields := b.client.store.signedFields(id, "alice", Default, formatTime(status.SubmittedAt))
			set("signature", keysOf(b.t, "mallory").Sign(signedJob, body, fields...))(b, id, "")
		}, "which is not among the keys here"},
		"the body and signature of another job": {func(b *bundle, id, other string) {
			keys := b.client.store.keys
			require.NoError(b.t, b.rdb.Copy(b.ctx, keys.body(other), keys.body(id), 0, true).Err())
			for _, field := range []string{"signature", fieldSubmitted} {
				value, err := b.rdb.HGet(b.ctx, keys.state(other), field).Result()
				require.NoError(b.t, err)
				set(field, value)(b, id, "")
			}
		}, forged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.use(keysOf(t, "producer"), nil)
			id, other := b.submit(job("1")), b.submit(job("2"))
			c.tamper(b, id, other)
			runner := newFakeRunner()
			w := b.start(runner, verifying(keysOf(t, "producer")))
			ran := receive(t, runner.runs)
			require.Equal(t, other, ran.program.ID, "the neighbour runs")
			ran.succeed("")
			record := b.await(id)
			require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
			require.Contains(t, record.Result.Message, "the job is refused and was not run: ")
			require.Contains(t, record.Result.Message, c.want)
			require.Contains(t, record.Result.Message, "jobs.verify_key_file")
			require.Len(t, record.Attempts, 1)
			require.Empty(t, record.Attempts[0].Error)
			require.Empty(t, runner.runs)
			require.Zero(t, w.Counters().Failed.Load())
		})
	}
}

func TestAJobOfAProducerWithoutAKeyIsRefused(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		judged := newFakeJudge()
		b.start(newFakeRunner(), verifying(keysOf(t, "producer")), func(o *WorkerOptions) { o.Judge = judged })
		record := b.await(b.submit(submission("1")))
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Contains(t, record.Result.Message, "it is not signed")
		require.Equal(t, grade.IE, record.Grade.Verdict, "and no submission is blamed")
		require.Empty(t, judged.calls)
	})
}

// Somebody kept a whole job and puts it back when nobody knows it any more.
func TestASignatureDoesNotCountForEver(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(keysOf(t, "producer"), nil)
		b.start(echoRunner{}, verifying(keysOf(t, "producer")))
		old := job("1")
		old.SubmittedAt = time.Now().Add(-61 * 24 * time.Hour)
		record := b.await(b.submit(old))
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Contains(t, record.Result.Message, "it was submitted 1464h0m0s ago: want at most 1440h0m0s: submit it anew")
		old.SubmittedAt = time.Now().Add(-59 * 24 * time.Hour)
		require.Equal(t, sandbox.OutcomeOK, b.await(b.submit(old)).Result.Outcome)
	})
}
