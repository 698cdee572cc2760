package jobs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// sessionJob is a valid job of a live session.
func sessionJob(source string) Job {
	j := job(source)
	j.Session = &Session{Name: "s", Live: true}
	return j
}

// sessionRun is a call of Sessions.Run that the test answers.
type sessionRun struct {
	ctx    context.Context
	job    SessionJob
	answer chan sessionAnswer
}

type sessionAnswer struct {
	result sandbox.Result
	report *workspace.Report
	err    error
}

// fakeSessions hands every call to the test, and ends it as Sessions must when its context ends.
type fakeSessions struct{ runs chan *sessionRun }

func newFakeSessions() fakeSessions { return fakeSessions{make(chan *sessionRun, 64)} }

func (f fakeSessions) Run(ctx context.Context, job SessionJob) (sandbox.Result, *workspace.Report, error) {
	r := &sessionRun{ctx: ctx, job: job, answer: make(chan sessionAnswer, 1)}
	f.runs <- r
	select {
	case a := <-r.answer:
		return a.result, a.report, a.err
	case <-ctx.Done():
		if context.Cause(ctx) == sandbox.ErrCanceled { //nolint:errorlint // the cause is the value itself
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil, nil
		}
		return sandbox.Result{}, nil, context.Cause(ctx)
	}
}

func (r *sessionRun) succeed(stdout string) {
	r.answer <- sessionAnswer{result: okResult(stdout), report: &workspace.Report{Version: 1}}
}

func (r *sessionRun) fail(err error) { r.answer <- sessionAnswer{err: err} }

func in(sessions Sessions) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.Sessions = sessions }
}

func TestSessionJobComesBackWithItsReport(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner, sessions := newFakeRunner(), newFakeSessions()
		b.start(runner, in(sessions))
		sent := sessionJob("x + 1")
		sent.Session.Restart = true
		id := b.submit(sent)
		r := receive(t, sessions.runs)
		require.Equal(t, SessionJob{
			ID: id, Attempt: 1, Tenant: "alice", Session: Session{Name: "s", Live: true, Restart: true},
			Program: sandbox.Program{ID: id, Attempt: 1, Tenant: "alice", Language: "python", Source: sandbox.Bytes("x + 1")},
		}, r.job)
		report := workspace.Report{
			Version: 7, Written: []string{"a"}, Deleted: []string{"b"}, Refused: []sandbox.RefusedFile{{Path: "c", Reason: "a link"}},
			Live: &workspace.LiveReport{
				Started: true, Lost: "it was idle", Ended: "memory", Value: "42",
				Displays: []workspace.Display{{MIME: "text/plain", Text: "t"}, {MIME: "image/png", Path: "f.png"}},
			},
		}
		r.answer <- sessionAnswer{result: okResult("out"), report: &report}
		record := b.await(id)
		require.Equal(t, &report, record.Session)
		require.Equal(t, "out", string(record.Result.Stdout.Data))
		require.Empty(t, runner.runs, "the runner is the business of the sessions")
		text, err := json.Marshal(record)
		require.NoError(t, err)
		require.Contains(t, string(text), `"session":{"version":7,"written":["a"],`)
	})
}

func TestJobOfNoSessionHasNoReport(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions))
		require.Nil(t, b.await(b.submit(job("1"))).Session)
		require.Empty(t, sessions.runs)
	})
}

func TestSessionJobIsRejectedWithoutSessions(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		record := b.await(b.submit(sessionJob("1")))
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Equal(t, "session: this worker runs no sessions: want a worker that has them", record.Result.Message)
		require.Len(t, record.Attempts, 1)
	})
}

// Somebody wrote to Redis what no Client would have sent.
func TestSessionThatIsNotValidNeverReachesTheSessions(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(sessionJob("1"))
		broken := sessionJob("1")
		broken.Session.Name = "../../other"
		body, _, err := broken.encode()
		require.NoError(t, err)
		require.NoError(t, b.rdb.Set(b.ctx, "sandloop:{"+id+"}:job", pack(body), 0).Err())
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions))
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome)
		require.Contains(t, record.Result.Message, `session.name: "../../other": want 1 to 64 letters`)
		require.Empty(t, sessions.runs)
	})
}

type panickingSessions struct{}

func (panickingSessions) Run(context.Context, SessionJob) (sandbox.Result, *workspace.Report, error) {
	panic("nil map")
}

func TestPanicOfTheSessionsIsOurFailure(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{}, in(panickingSessions{}), func(o *WorkerOptions) { o.MaxAttempts = 1 })
		record := b.await(b.submit(sessionJob("1")))
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Equal(t, "session panicked: nil map", record.Attempts[0].Error)
	})
}

func TestSessionIsPartOfWhatAKeyNames(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	keyed := sessionJob("1")
	keyed.IdempotencyKey = "k"
	b.submit(keyed)
	keyed.Session = &Session{Name: "other", Live: true}
	_, err := b.client.Submit(b.ctx, keyed)
	require.ErrorIs(t, err, ErrConflict)
}

func TestDecodeJobReadsASession(t *testing.T) {
	t.Parallel()
	got, err := DecodeJob([]byte(`{"program":{"language":"python","source":"1"},"session":{"name":"a.B-9_","live":true,"restart":true}}`))
	require.NoError(t, err)
	require.Equal(t, &Session{Name: "a.B-9_", Live: true, Restart: true}, got.Session)
}

func TestDecodeJobRefusesASession(t *testing.T) {
	t.Parallel()
	const program = `"program":{"language":"python","source":"1"}`
	for text, want := range map[string]string{
		`{` + program + `,"session":{}}`:                                                                     `session.name: "": want 1 to 64 letters`,
		`{` + program + `,"session":"s"}`:                                                                    "session: is a JSON string: want an object",
		`{` + program + `,"session":{"name":"s","liv":true}}`:                                                `unknown field "liv"`,
		`{` + program + `,"session":{"name":"s","live":1}}`:                                                  "session.live: is a JSON number: want true or false",
		`{` + program + `,"session":{"name":"a/b"}}`:                                                         `session.name: "a/b"`,
		`{` + program + `,"session":{"name":"a}b"}}`:                                                         `session.name: "a}b"`,
		`{` + program + `,"session":{"name":"` + strings.Repeat("s", 65) + `"}}`:                             "session.name: ",
		`{` + program + `,"session":{"name":"s","restart":true}}`:                                            "session.restart: is true: want it only beside live",
		`{` + program + `,"session":{"name":"s"},"grade":{"suite":{"tests":[{"name":"a"}]}}}`:                "session: is given: want none beside grade",
		`{"program":{"language":"python","source":"1","reuse":"batch"},"session":{"name":"s","live":false}}`: "program.reuse: is given: want none beside session",
	} {
		_, err := DecodeJob([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestReportOnASessionThatIsTooLargeLosesWhatItCan(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("é", 3<<20)
	large := workspace.Report{
		Version: 3, Written: []string{"w"},
		Live: &workspace.LiveReport{Started: true, Lost: "idle", Value: "x" + noise, Displays: []workspace.Display{{MIME: "text/html", Text: noise}}},
	}
	end, packed := ending{Result: okResult("kept"), Session: &large}.storable()
	require.Len(t, large.Live.Displays[0].Text, len(noise), "the caller's own is not changed")
	back, err := decodeEnding("x", packed)
	require.NoError(t, err)
	require.Equal(t, end.Session, back.Session)
	require.Equal(t, "kept", string(back.Stdout.Data))
	require.EqualValues(t, 3, back.Session.Version)
	require.True(t, back.Session.Live.Started)
	require.Equal(t, "idle", back.Session.Live.Lost)
	// 64 KiB are one x, 32767 whole letters of two bytes and half of one.
	require.Equal(t, "x"+strings.Repeat("é", 32767)+"...", back.Session.Live.Value)
	require.Len(t, back.Session.Live.Displays, 1)
	require.Contains(t, back.Session.Live.Displays[0].Text, "more than 8388608 bytes")

	small := workspace.Report{Version: 4, Written: []string{"w"}}
	files := okResult("")
	files.Files = []sandbox.File{{Path: "w", Data: make(sandbox.Bytes, maxSessionReport)}}
	end, _ = ending{Result: files, Session: &small}.storable()
	require.Equal(t, &small, end.Session, "a large result does not cost the report")

	refused := workspace.Report{Version: 5}
	for range 100_000 {
		refused.Refused = append(refused.Refused, sandbox.RefusedFile{Path: strings.Repeat("p", 50), Reason: strings.Repeat("r", 50)})
	}
	end, _ = ending{Result: okResult(""), Session: &refused}.storable()
	require.Equal(t, &workspace.Report{Version: 5}, end.Session)
}
