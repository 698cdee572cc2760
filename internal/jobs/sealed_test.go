package jobs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
	"github.com/sandloop/sandloop/internal/workspace"
)

func sealing(keys *seal.Keys) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.SealKeys = keys }
}

// written starts a Redis that writes down, as they are, all commands that change anything, and returns what it wrote so far.
func written(t *testing.T) (*bundle, func() string) {
	t.Helper()
	dir := t.TempDir()
	b := setup(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
	return b, func() string {
		var all strings.Builder
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			all.Write(content)
			return err
		}))
		return all.String()
	}
}

// everyWay sends a marker on each way that user data can take through Redis: source, input, output as it comes, result, test data, report, session.
func (b *bundle) everyWay(seals *seal.Keys) {
	b.t.Helper()
	b.use(nil, seals)
	runner, judged, inSessions := newFakeRunner(), newFakeJudge(), newFakeSessions()
	b.start(runner, sealing(seals), in(inSessions), func(o *WorkerOptions) { o.Judge, o.MaxAttempts = judged, 1 })

	j := job("MARK source")
	j.Follow, j.Program.Stdin, j.Program.Args = true, sandbox.Bytes("MARK stdin"), []string{"MARK args"}
	j.Program.Files = []sandbox.File{{Path: "MARK path", Data: sandbox.Bytes("MARK file")}}
	id := b.submit(j)
	pieces, ended := b.follow(id)
	r := receive(b.t, runner.runs)
	require.Equal(b.t, "MARK stdin", string(r.program.Stdin))
	r.program.OnOutput(stdout("MARK live"))
	require.Equal(b.t, "run/stdout:MARK live", receive(b.t, pieces))
	r.succeed("MARK stdout")
	require.Equal(b.t, "MARK stdout", string(b.await(id).Result.Stdout.Data))
	require.NoError(b.t, receive(b.t, ended))

	id = b.submit(job("MARK dead")) // which keeps its body
	receive(b.t, runner.runs).answer <- answer{err: fmt.Errorf("no daemon")}
	require.Equal(b.t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
	letter, dead, err := b.client.DeadLetter(b.ctx, id)
	require.NoError(b.t, err)
	require.Equal(b.t, "python", letter.Language)
	require.Equal(b.t, "MARK dead", string(dead.Program.Source))

	large := append([]byte("MARK blob "), bytes.Repeat([]byte{0}, 9<<20)...)
	blobs := NewBlobs(b.rdb, "", 0, seals, nil)
	for _, content := range [][]byte{[]byte("MARK blob"), large} {
		ids, err := b.client.PutBlobs(b.ctx, content)
		require.NoError(b.t, err)
		back, err := blobs.Get(b.ctx, ids[0])
		require.NoError(b.t, err)
		require.True(b.t, bytes.Equal(content, back))
	}
	id = b.submit(submission("MARK submission"))
	rated := report(grade.WA)
	rated.Message = "MARK report"
	receive(b.t, judged.calls).answer <- judgement{report: rated}
	require.Equal(b.t, "MARK report", b.await(id).Grade.Message)

	id = b.submit(sessionJob("MARK cell"))
	receive(b.t, inSessions.runs).answer <- sessionAnswer{
		result: okResult("MARK cell output"), report: &workspace.Report{Version: 1, Live: &workspace.LiveReport{Value: "MARK value"}},
	}
	require.Equal(b.t, "MARK value", b.await(id).Session.Live.Value)

	id = b.submit(job("MARK canceled"))
	receive(b.t, runner.runs)
	_, err = b.client.Cancel(b.ctx, id)
	require.NoError(b.t, err)
	require.Equal(b.t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
}

func TestNothingOfAJobLiesPlainInRedisWhereJobsAreSealed(t *testing.T) {
	t.Parallel()
	b, all := written(t)
	b.everyWay(keysOf(t, "seal"))
	require.NotContains(t, all(), "MARK")

	plain, all := written(t)
	plain.everyWay(nil)
	for _, marker := range []string{
		"source", "stdin", "args", "path", "live", "dead", "blob", "submission", "report", "cell", "value", "canceled",
	} {
		require.Contains(t, all(), "MARK "+marker, "else the test would see nothing")
	}
}

func TestASealedJobIsReadWithOldKeysToo(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(nil, keysOf(t, "old"))
		j := job("1")
		j.IdempotencyKey = "k"
		id := b.submit(j)
		b.use(nil, keysOf(t, "new", "old"))
		again, err := b.client.Submit(b.ctx, j)
		require.NoError(t, err)
		require.True(t, again.Existing, "a key that was replaced makes it no other job")
		other := job("2")
		other.IdempotencyKey = "k"
		_, err = b.client.Submit(b.ctx, other)
		require.ErrorIs(t, err, ErrConflict)
		b.start(echoRunner{}, sealing(keysOf(t, "new", "old")))
		require.Equal(t, "1", string(b.await(id).Result.Stdout.Data))
		b.use(nil, keysOf(t, "old"))
		_, err = b.client.Await(b.ctx, id)
		require.ErrorIs(t, err, seal.ErrUnknownKey)
		require.ErrorContains(t, err, "which is not among the keys here (jobs.seal_key_file)")
	})
}

func TestAWorkerWithoutTheKeyLeavesASealedJobToOthers(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(nil, keysOf(t, "seal"))
		id := b.submit(job("1"))
		keyless := b.start(newFakeRunner())
		eventually(t, func() bool { return keyless.Counters().Failed.Load() == 1 }, "its first attempt")
		keyless.stop(t)
		b.start(echoRunner{}, sealing(keysOf(t, "seal")))
		record := b.await(id)
		require.Equal(t, "1", string(record.Result.Stdout.Data))
		require.Contains(t, record.Attempts[0].Error, "which is not among the keys here (jobs.seal_key_file)")
	})
}

// Whoever can write to Redis and has no key puts a value in the place of another.
func TestWhatIsNotSealedForItsPlaceIsNotBelieved(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(nil, keysOf(t, "seal"))
		keys := b.client.store.keys
		one, two, three := b.submit(job("1")), b.submit(job("2")), b.submit(job("3"))
		require.NoError(t, b.rdb.Copy(b.ctx, keys.body(one), keys.body(two), 0, true).Err())
		body, _, err := job("evil").encode()
		require.NoError(t, err)
		require.NoError(t, b.rdb.Set(b.ctx, keys.body(three), pack(body), 0).Err())
		b.start(echoRunner{}, sealing(keysOf(t, "seal")))
		require.Equal(t, "1", string(b.await(one).Result.Stdout.Data))
		for id, want := range map[string]string{two: seal.ErrTampered.Error(), three: seal.ErrNotSealed.Error()} {
			record := b.await(id)
			require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
			require.Contains(t, record.Result.Message, want)
			require.Len(t, record.Attempts, 1, "what does not mend is not tried again")
		}
		four := b.submit(job("4"))
		b.await(four)
		require.NoError(t, b.rdb.Copy(b.ctx, keys.result(one), keys.result(four), 0, true).Err())
		_, err = b.client.Result(b.ctx, four)
		require.ErrorIs(t, err, seal.ErrTampered)
		require.NoError(t, b.rdb.Set(b.ctx, keys.result(four), packResult(okResult("forged")), 0).Err())
		_, err = b.client.Result(b.ctx, four)
		require.ErrorIs(t, err, seal.ErrNotSealed)
	})
}

func TestBlobsThatAreNotOursToReadStay(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(nil, keysOf(t, "seal"))
		ids, err := b.client.PutBlobs(b.ctx, []byte("one"), []byte("two"))
		require.NoError(t, err)
		_, err = NewBlobs(b.rdb, "", 0, keysOf(t, "other"), nil).Get(b.ctx, ids[0])
		require.ErrorIs(t, err, seal.ErrUnknownKey)
		there, err := b.client.HasBlobs(b.ctx, ids...)
		require.NoError(t, err)
		require.True(t, there[ids[0]], "whoever has the key can read it")
		keys := b.client.store.keys
		require.NoError(t, b.rdb.Copy(b.ctx, keys.blob(ids[0]), keys.blob(ids[1]), 0, true).Err())
		_, err = NewBlobs(b.rdb, "", 0, keysOf(t, "seal"), nil).Get(b.ctx, ids[1])
		require.ErrorIs(t, err, ErrNoBlob)
		there, err = b.client.HasBlobs(b.ctx, ids...)
		require.NoError(t, err)
		require.False(t, there[ids[1]], "what is damaged can be put again")
	})
}

func TestOutputThatWasPutThereBySomebodyElseIsNotPassedOn(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.use(nil, keysOf(t, "seal"))
		j := job("1")
		j.Follow = true
		id := b.submit(j)
		require.NoError(t, appendOutput(b.ctx, b.client.store, id, map[string]any{outputStep: "run", outputStream: "stdout", outputData: "forged"}))
		runner := newFakeRunner()
		b.start(runner, sealing(keysOf(t, "seal")))
		r := receive(t, runner.runs)
		r.program.OnOutput(stdout("true"))
		r.succeed("")
		pieces, ended := b.follow(id)
		require.Equal(t, "run/stdout:true", receive(t, pieces))
		require.NoError(t, receive(t, ended))
		require.Empty(t, pieces)
	})
}

// BenchmarkSealed reports what sealing and signing cost, with either in turn: jobs handed in together, and one from Submit to its result.
func BenchmarkSealed(b *testing.B) {
	const batch = 2000
	type way struct {
		name        string
		sign, seals *seal.Keys
	}
	for _, size := range []int{100, 256 << 10} {
		ways := []way{{name: "plain"}, {"signed", keysOf(b, "sign"), nil}, {"sealed", nil, keysOf(b, "seal")}, {"both", keysOf(b, "sign"), keysOf(b, "seal")}}
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			bundles := make([]*bundle, len(ways))
			many, single := make([][]time.Duration, len(ways)), make([][]time.Duration, len(ways))
			for i, way := range ways {
				bundles[i] = setup(b)
				bundles[i].use(way.sign, way.seals)
				bundles[i].start(echoRunner{}, verifying(way.sign), sealing(way.seals))
			}
			count := max(20, batch*100/size)
			for b.Loop() {
				for i, bundle := range bundles { // side by side, so that what disturbs one disturbs all
					jobs := make([]Job, count)
					for n := range jobs {
						jobs[n] = job(fmt.Sprintf("%0*d", size, n))
						jobs[n].Queue = Batch
					}
					start := time.Now()
					submissions, err := bundle.client.SubmitMany(bundle.ctx, jobs)
					require.NoError(b, err)
					many[i] = append(many[i], time.Since(start))
					for _, submission := range submissions {
						bundle.await(submission.ID)
					}
					start = time.Now()
					bundle.await(bundle.submit(jobs[0]))
					single[i] = append(single[i], time.Since(start))
				}
			}
			for i, way := range ways {
				b.ReportMetric(median(many[i]).Seconds()/median(many[0]).Seconds(), way.name+"-submit-ratio")
				b.ReportMetric(median(single[i]).Seconds()/median(single[0]).Seconds(), way.name+"-result-ratio")
			}
		})
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
