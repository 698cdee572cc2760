package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// submission is a valid job that is to be judged.
func submission(source string) Job {
	j := job(source)
	j.Grade = &grade.Task{Mode: grade.Everything, KeepOutput: 100, Suite: &grade.Suite{
		Tests: []grade.Test{
			{Name: "1", Input: grade.Data{Inline: sandbox.Bytes("1 2\n")}, Answer: grade.Data{Inline: sandbox.Bytes{0xff, 0}}},
			{Name: "2", Input: grade.Data{Blob: grade.BlobID([]byte("9 9\n")), Size: 4}},
		},
		Root: &grade.Group{Rule: grade.NewLegacyRule(true), Items: []grade.Item{{Test: "1"}, {Test: "2"}}},
	}}
	return j
}

// report is one that says all that a report can.
func report(verdict grade.Verdict) *grade.Report {
	score := 0.5
	stream := sandbox.NewStream([]byte("he"), []byte("ad"), 100)
	return &grade.Report{
		Verdict: verdict, Score: &score, Message: "m", Groups: &grade.Graded{Verdict: verdict, Items: []grade.Graded{{Name: "1", Verdict: grade.AC}}},
		Tests: []grade.TestReport{{
			Name: "1", Key: "k", Finding: grade.Finding{Verdict: verdict, Message: "m", Public: "p", Multiplier: &score}, Outcome: sandbox.OutcomeSignaled,
			Signal: "SIGSEGV", ExitCode: 139, CPUTime: sandbox.Seconds(1500 * time.Millisecond), WallTime: sandbox.Seconds(time.Second), PeakMemory: 1 << 40, Stdout: &stream,
		}},
	}
}

// judging is a call of Judge that the test answers.
type judging struct {
	program sandbox.Program
	task    grade.Task
	answer  chan judgement
}

type judgement struct {
	report *grade.Report
	err    error
}

// fakeJudge hands every call to the test, and ends it as a judge must when its context ends.
type fakeJudge struct{ calls chan *judging }

func newFakeJudge() fakeJudge { return fakeJudge{make(chan *judging, 64)} }

func (f fakeJudge) Judge(ctx context.Context, program sandbox.Program, task grade.Task) (sandbox.Result, *grade.Report, error) {
	call := &judging{program: program, task: task, answer: make(chan judgement, 1)}
	f.calls <- call
	select {
	case a := <-call.answer:
		return okResult("compiled"), a.report, a.err
	case <-ctx.Done():
		if context.Cause(ctx) == sandbox.ErrCanceled { //nolint:errorlint // the cause is the value itself
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil, nil
		}
		return sandbox.Result{}, nil, context.Cause(ctx)
	}
}

func with(judge Judge, attempts int) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.Judge, o.MaxAttempts = judge, attempts }
}

func TestGradedJobComesBackWithItsReport(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner, judge := newFakeRunner(), newFakeJudge()
		b.start(runner, with(judge, 4))
		sent := submission("print(3)")
		id := b.submit(sent)
		call := receive(t, judge.calls)
		require.Equal(t, "print(3)", string(call.program.Source))
		require.Equal(t, id, call.program.ID)
		require.Equal(t, 1, call.program.Attempt)
		require.Equal(t, *sent.Grade, call.task)
		call.answer <- judgement{report: report(grade.RE)}
		record := b.await(id)
		require.Equal(t, report(grade.RE), record.Grade)
		require.Equal(t, "compiled", string(record.Result.Stdout.Data))
		again, err := b.client.Result(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, record, again)
		require.Empty(t, runner.runs, "the runner is the judge's business")
		text, err := json.Marshal(record)
		require.NoError(t, err)
		require.Contains(t, string(text), `"grade":{"verdict":"RE","score":0.5,`)
	})
}

func TestJobThatIsNotGradedHasNoReport(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{}, with(newFakeJudge(), 4))
		require.Nil(t, b.await(b.submit(job("1"))).Grade)
	})
}

func TestReportOfASubmissionWhoseWorkerWasKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := startChild(t, b.addr)
	id := b.submit(submission("1"))
	lost.expect("started " + id)
	lost.signal(syscall.SIGKILL)
	runner, judge := newFakeRunner(), newFakeJudge()
	b.start(runner, with(judge, 4))
	call := receive(t, judge.calls)
	require.Equal(t, 2, call.program.Attempt)
	require.Equal(t, []string{id + "<2"}, runner.killed, "containers of the first attempt are ended first")
	call.answer <- judgement{report: report(grade.WA)}
	record := b.await(id)
	require.Equal(t, report(grade.WA), record.Grade)
	require.Len(t, record.Attempts, 2)
	require.Equal(t, "worker lost", record.Attempts[0].Error)
	require.Empty(t, judge.calls)
}

func TestTheFirstReportWins(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(submission("1"))
		ghost, stale := b.ghost(id)
		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 4))
		receive(t, judge.calls).answer <- judgement{report: report(grade.AC)}
		require.Equal(t, grade.AC, b.await(id).Grade.Verdict)
		end, packed := ending{Result: okResult("late"), Grade: report(grade.TLE)}.storable()
		stored, err := ghost.finish(b.ctx, stale, end.Outcome, packed)
		require.NoError(t, err)
		require.False(t, stored)
		require.Equal(t, grade.AC, b.await(id).Grade.Verdict)
	})
}

func TestFailureOfOursIsNeverBlamedOnASubmission(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 2))
		id := b.submit(submission("1"))
		receive(t, judge.calls).answer <- judgement{err: errors.New("no daemon")}
		receive(t, judge.calls).answer <- judgement{report: report(grade.WA), err: errors.New("no image")}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Equal(t, &grade.Report{Verdict: grade.IE, Message: record.Result.Message}, record.Grade)
		require.Contains(t, record.Grade.Message, "no image")
		require.Contains(t, record.Grade.Message, "not to blame")
		require.Len(t, record.Attempts, 2)
	})
}

func TestSubmissionThatLosesItsWorkersIsAnInternalError(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(submission("1"))
		b.ghost(id)
		b.start(echoRunner{}, with(newFakeJudge(), 1))
		record := b.await(id)
		require.Equal(t, grade.IE, record.Grade.Verdict)
		require.Contains(t, record.Grade.Message, "its worker was lost")
	})
}

// An internal error that the tests or the validator caused comes again.
func TestReportOfAnInternalErrorIsFinal(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 4))
		id := b.submit(submission("1"))
		receive(t, judge.calls).answer <- judgement{report: report(grade.IE)}
		record := b.await(id)
		require.Equal(t, report(grade.IE), record.Grade)
		require.Len(t, record.Attempts, 1)
		require.Empty(t, judge.calls)
	})
}

// Waiting brings back no test data, and the message says what does.
func TestSubmissionWithoutItsTestDataIsGivenUpAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		judge := newFakeJudge()
		w := b.start(echoRunner{}, with(judge, 4))
		id := b.submit(submission("1"))
		call := receive(t, judge.calls)
		_, err := NewBlobs(b.rdb, "", 0, nil, nil).Get(b.ctx, call.task.Suite.Tests[1].Input.Blob)
		call.answer <- judgement{err: err}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Equal(t, grade.IE, record.Grade.Verdict)
		require.Contains(t, record.Grade.Message, "the test data is not in Redis any more; submit again")
		require.Contains(t, record.Grade.Message, grade.BlobID([]byte("9 9\n")))
		require.True(t, record.LostBlob())
		require.Len(t, record.Attempts, 1)
		require.EqualValues(t, 1, w.Counters().Failed.Load())
		eventually(t, func() bool { s, err := b.client.Stats(b.ctx); return err == nil && s.Queues[1].Dead == 1 }, "dead letter")
	})
}

func TestSubmissionIsRejectedWithoutAJudge(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		record := b.await(b.submit(submission("1")))
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Equal(t, "grade: this worker judges no submissions: want a worker that has a judge", record.Result.Message)
		require.Equal(t, &grade.Report{Verdict: grade.IE, Message: record.Result.Message}, record.Grade)
	})
}

// Somebody wrote to Redis what no Client would have sent.
func TestTaskThatIsNotValidNeverReachesTheJudge(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(submission("1"))
		broken := submission("1")
		broken.Grade.Suite.Checker = grade.Checker{Kind: grade.CheckTestlib, Programs: []sandbox.Program{{Language: "cpp", Source: sandbox.Bytes("1"), Reuse: "another's"}}}
		body, _, err := broken.encode()
		require.NoError(t, err)
		require.NoError(t, b.rdb.Set(b.ctx, "sandloop:{"+id+"}:job", pack(body), 0).Err())
		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 4))
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Equal(t, `grade: suite.checker.programs[0].reuse: "another's": want none`, record.Grade.Message)
		require.Empty(t, judge.calls)
	})
}

type panickingJudge struct{}

func (panickingJudge) Judge(context.Context, sandbox.Program, grade.Task) (sandbox.Result, *grade.Report, error) {
	panic("nil map")
}

func TestPanicOfTheJudgeIsOurFailure(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{}, with(panickingJudge{}, 1))
		record := b.await(b.submit(submission("1")))
		require.Equal(t, grade.IE, record.Grade.Verdict)
		require.Equal(t, "judge panicked: nil map", record.Attempts[0].Error)
	})
}

func TestCanceledSubmissionHasNoReport(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		waits := b.submit(submission("1"))
		_, err := b.client.Cancel(b.ctx, waits)
		require.NoError(t, err)
		record := b.await(waits)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Nil(t, record.Grade)

		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 4))
		runs := b.submit(submission("2"))
		receive(t, judge.calls)
		_, err = b.client.Cancel(b.ctx, runs)
		require.NoError(t, err)
		record = b.await(runs)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Nil(t, record.Grade)
	})
}

// Two tenants that give the same name to their batches must not share containers. The values
// are from Python's hashlib and base64.
func TestBatchesOfTwoTenantsNeverMeet(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner, judge := newFakeRunner(), newFakeJudge()
		b.start(runner, with(judge, 4))
		j := job("1")
		j.Program.Reuse = "build-17"
		b.submit(j)
		r := receive(t, runner.runs)
		require.Equal(t, "bjeczmdshz3kuqzljlxyretlk5g", r.program.Reuse)
		r.succeed("")

		graded := submission("1")
		graded.Program.Reuse = "build-17"
		b.submit(graded)
		call := receive(t, judge.calls)
		require.Equal(t, "bjeczmdshz3kuqzljlxyretlk5g", call.program.Reuse, "one tenant's jobs share")
		call.answer <- judgement{report: report(grade.AC)}

		graded.Tenant, graded.Program.Reuse = "alic", "ebuild-17"
		b.submit(graded)
		call = receive(t, judge.calls)
		require.Equal(t, "bt3w7slokjgl2zigz7ammpi5mf6", call.program.Reuse)
		call.answer <- judgement{report: report(grade.AC)}

		graded.Program.Reuse = ""
		b.submit(graded)
		call = receive(t, judge.calls)
		require.Empty(t, call.program.Reuse, "who does not ask gets a container of his own")
		call.answer <- judgement{report: report(grade.AC)}
	})
}

func TestReportThatIsTooLargeLosesItsOutputs(t *testing.T) {
	t.Parallel()
	large := report(grade.WA)
	noise := sandbox.NewStream([]byte(strings.Repeat("x", 1<<20)), nil, 1<<20)
	for range 40 {
		test := large.Tests[0]
		test.Stderr = &noise
		large.Tests = append(large.Tests, test)
	}
	large.Message = ""
	end, packed := ending{Result: okResult(""), Grade: large}.storable()
	require.Equal(t, &noise, large.Tests[40].Stderr, "the judge's own is not changed")
	back, err := decodeEnding("x", packed)
	require.NoError(t, err)
	require.Equal(t, end.Grade, back.Grade)
	require.Equal(t, grade.WA, back.Grade.Verdict)
	require.Len(t, back.Grade.Tests, 41)
	require.Equal(t, grade.WA, back.Grade.Tests[40].Verdict)
	require.Nil(t, back.Grade.Tests[40].Stderr)
	require.Contains(t, back.Grade.Message, "more than 33554432 bytes")
}

// Two scores of 1e308 are infinite together, which JSON cannot say.
func TestReportThatCannotBeWrittenIsRejected(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		judge := newFakeJudge()
		b.start(echoRunner{}, with(judge, 4))
		id := b.submit(submission("1"))
		infinite := math.Inf(1)
		receive(t, judge.calls).answer <- judgement{report: &grade.Report{Verdict: grade.AC, Score: &infinite}}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Equal(t, grade.IE, record.Grade.Verdict)
		require.Contains(t, record.Grade.Message, "cannot be written in JSON")
	})
}

func TestDecodeJobReadsATask(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(submission("1"))
	require.NoError(t, err)
	back, err := DecodeJob(text)
	require.NoError(t, err)
	require.Equal(t, submission("1"), back)
}

func TestDecodeJobRefusesATask(t *testing.T) {
	t.Parallel()
	const program = `"program":{"language":"python","source":"1"}`
	for text, want := range map[string]string{
		`{` + program + `,"grade":{}}`:                                                   "grade: suite: is not given: want it or suite_blob",
		`{` + program + `,"grade":{"suit":{}}}`:                                          `unknown field "suit"`,
		`{` + program + `,"grade":[]}`:                                                   "grade: is a JSON array: want an object",
		`{` + program + `,"grade":{"suite":{"tests":[{"name":"a","weight":1}]}}}`:        `unknown field "weight"`,
		`{` + program + `,"grade":{"suite":{"tests":[{"name":"a"}],"groups":{"x":1}}}}`:  `unknown field "x"`,
		`{` + program + `,"grade":{"suite":{"tests":[{"name":"a"},{"name":"a"}]}}}`:      `grade: suite.tests[1].name: "a" is given twice`,
		`{` + program + `,"grade":{"suite":{"tests":[{"name":"a"}]},"mode":"best"}}`:     `grade: mode: "best" is unknown`,
		`{"program":{"language":"python","source":"1","reuse":"a b"}}`:                   `program.reuse: "a b": want up to 128 letters, digits`,
		`{"program":{"language":"python","source":"1","stdin":"abc"},"grade":{}}`:        "program.stdin: is 3 bytes: want none beside grade",
		`{"program":{"language":"python","source":"1","reuse":"` + tooLongReuse + `"}}`:  "program.reuse: ",
		`{` + program + `,"grade":{"suite":{"tests":[{"name":"a","cpu_seconds":"1"}]}}}`: "want a number of seconds",
	} {
		_, err := DecodeJob([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

var tooLongReuse = strings.Repeat("a", 129)
