package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestAScriptedRunFromItsTaskToItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.sessions.run = func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay("42\n"), reported(job), b.write(ctx, job, "a.txt", "x")
	}
	got := b.agent(t, "--script", b.file(t, "s.yaml", oneCall))
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, "I let Python do it.\nIt is 42.\n", got.stdout)
	require.Contains(t, got.stderr, "> run_code language=python\n    print(6*7)\n  queued after ")
	require.Contains(t, got.stderr, "\n  | 42\n  = ok in ")
	require.Contains(t, got.stderr, "\nagent: 2 turns with 1 call in ")

	job := b.sessions.all()[0]
	require.Equal(t, "print(6*7)", string(job.Program.Source))
	require.True(t, job.Session.Live, "variables persist unless somebody says otherwise")
	require.Regexp(t, `^agent-[a-z0-9]{12}$`, job.Session.Name)
	require.Empty(t, b.names(t), "a fresh session ends with its run")
}

func TestFlagsReachTheJobs(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	got := b.agent(t, "--script", b.file(t, "s.yaml", oneCall), "--session", "mine", "--live=false", "--tenant", "me", "--queue", "batch")
	require.Equal(t, 0, got.code, got.stderr)
	job := b.sessions.all()[0]
	require.Equal(t, jobs.Session{Name: "mine"}, job.Session)
	require.Equal(t, "me", job.Tenant)
}

func TestEventsAreLinesOfJSONAndNothingElseIsPrinted(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	got := b.agent(t, "--script", b.file(t, "s.yaml", oneCall), "--json", "Another task")
	require.Equal(t, 0, got.code, got.stderr)
	var kinds []agent.EventKind
	var last agent.Event
	for line := range strings.Lines(got.stdout) {
		last = agent.Event{}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&last), line)
		if n := len(kinds); n == 0 || kinds[n-1] != last.Kind {
			kinds = append(kinds, last.Kind)
		}
	}
	require.Equal(t, []agent.EventKind{
		agent.EventTurn, agent.EventText, agent.EventTurnDone, agent.EventCall, agent.EventProgress, agent.EventResult, agent.EventResultsDone,
		agent.EventTurn, agent.EventText, agent.EventTurnDone, agent.EventEnd,
	}, kinds)
	require.Equal(t, agent.StopAnswer, last.Stop)
}

func TestQuietPrintsTheAnswerAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	got := b.agent(t, "-q", "--script", b.file(t, "s.yaml", oneCall))
	require.Equal(t, ran{stdout: "It is 42.\n"}, got)
	got = b.agent(t, "-q", "--max-iterations", "1", "--script", b.file(t, "s.yaml", oneCall))
	require.Equal(t, ran{stderr: "agent: no answer: the model did not come to an answer within the bound of turns, which is 1\n", code: 1}, got)
}

func TestTheTaskComesFromWhereverItIsGiven(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	script := b.file(t, "s.yaml", oneCall)
	out := filepath.Join(b.dir, "t.json")
	for want, args := range map[string][]string{
		"from the line":           {"from the line"},
		"from stdin\n":            {"-"},
		"from a file":             {"--task-file", b.file(t, "task.txt", "from a file")},
		"Multiply six by seven.":  nil,
		"not \uFFFD text \x1b[2J": {"not \xff text \x1b[2J"},
	} {
		got := b.agentWith(t.Context(), t, "from stdin\n", append(args, "--script", script, "--transcript", out)...)
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, want, load(t, out).Messages[0].Text)
	}
}

func TestWhatIsWrongIsSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), redis: "127.0.0.1:1", env: map[string]string{}}
	script, empty := b.file(t, "s.yaml", oneCall), b.file(t, "empty", "")
	noTask := b.file(t, "n.yaml", "turns: [{say: Hi}]")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no model":                 {[]string{"task"}, "there is no model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or\nagent: name a local server"},
		"no key":                   {[]string{"task", "--provider", "anthropic"}, "ANTHROPIC_API_KEY is not set"},
		"no key at another server": {[]string{"task", "--provider", "anthropic", "--base-url", "http://127.0.0.1:1", "--model", "m"}, "ANTHROPIC_API_KEY is not set"},
		"no model at a server":     {[]string{"task", "--provider", "openai", "--base-url", "http://127.0.0.1:1/v1"}, "--model: name the model"},
		"an unknown provider":      {[]string{"task", "--provider", "acme"}, `--provider: "acme" is unknown: want one of anthropic, openai, script`},
		"a bad address":            {[]string{"task", "--provider", "openai", "--base-url", "localhost", "--model", "m"}, "base URL"},
		"a script and a provider":  {[]string{"task", "--provider", "openai", "--script", script}, "a script is played by --provider script"},
		"a script and a model":     {[]string{"task", "--model", "m", "--script", script}, "a script has neither"},
		"no script":                {[]string{"task", "--provider", "script"}, "name the file with --script"},
		"a bad script":             {[]string{"task", "--script", empty}, "script " + empty},
		"no task":                  {[]string{"--script", noTask}, "there is no task"},
		"an empty task":            {[]string{" ", "--script", script}, "the task is empty"},
		"an empty stdin":           {[]string{"-", "--script", script}, "the task is empty"},
		"two tasks":                {[]string{"one", "two"}, "want one task, in quotes, and got 2 arguments"},
		"a task and a file":        {[]string{"one", "--task-file", script}, "want one of them"},
		"an absent file":           {[]string{"--task-file", empty + "x"}, "no such file"},
		"an unknown flag":          {[]string{"task", "--fast"}, "--fast"},
		"no turns":                 {[]string{"task", "--max-iterations", "0"}, "--max-iterations: 0 is not allowed: want 1 or more"},
		"no time":                  {[]string{"task", "--timeout", "0s"}, "--timeout: 0s is not allowed"},
		"negative tokens":          {[]string{"task", "--max-tokens", "-1"}, "--max-tokens: -1 is not allowed"},
		"a bad session":            {[]string{"task", "--session", "a/b"}, `--session: session "a/b": want`},
		"a bad queue":              {[]string{"task", "--queue", "fast"}, `--queue: "fast" is unknown`},
		"quiet events":             {[]string{"task", "--json", "-q"}, "want one of them"},
		"a folder as transcript":   {[]string{"task", "--transcript", b.dir}, "is not a file"},
		"a transcript nowhere":     {[]string{"task", "--transcript", b.dir + "/no/t.json"}, "there is no folder"},
		"a file as folder":         {[]string{"task", "--out", script}, "--out " + script + ": is not a folder"},
		"no transcript":            {[]string{"task", "--resume", b.dir + "/no.json"}, "--resume: read transcript"},
		"a broken transcript":      {[]string{"task", "--resume", script}, "--resume: transcript " + script},
		"a bad configuration":      {[]string{"task", "--script", script, "--redis", "ftp://x"}, "redis.addr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.agent(t, c.args...)
			require.Equal(t, cli.ExitUsage, got.code, got.stderr)
			require.Contains(t, got.stderr, c.want)
			require.Empty(t, got.stdout)
		})
	}
}

func TestWithoutRedisOrWorkerOneIsToldWhatToStart(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), env: map[string]string{}}
	script := b.file(t, "s.yaml", oneCall)
	config := b.file(t, "sandloop.yaml", "redis: {addr: embedded, embedded_addr: '127.0.0.1:1'}\n")
	got := b.agent(t, "--script", script, "--config", config)
	require.Equal(t, cli.ExitFailure, got.code)
	require.Contains(t, got.stderr, "start bin/worker --embedded in another terminal")

	b = setupWithoutWorker(t)
	got = b.agent(t, "--script", script)
	require.Equal(t, cli.ExitFailure, got.code)
	require.Contains(t, got.stderr, "no worker is running: start bin/worker in another terminal")
}

func TestCtrlCCancelsTheJobAndSavesTheTranscript(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	b := setup(t, untilCanceled(began))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-began
		interrupt()
	}()
	out := filepath.Join(b.dir, "t.json")
	got := b.agentWith(ctx, t, "", "--script", b.file(t, "s.yaml", oneCall), "--transcript", out)
	require.Equal(t, cli.ExitInterrupted, got.code, got.stderr)
	require.Contains(t, got.stderr, "agent: ending the run, its jobs are canceled")
	require.Contains(t, got.stderr, "  | partial\n")
	require.Contains(t, got.stderr, "agent --resume "+out)

	transcript := load(t, out)
	require.Equal(t, agent.StopCanceled, transcript.Stop)
	require.Len(t, transcript.Messages, 3)
	result := transcript.Messages[2].Results[0]
	require.True(t, result.IsError)
	b.requireCanceled(t, result.JobID)
}

// requireCanceled waits until a job has ended by a cancel.
func (b *bench) requireCanceled(t *testing.T, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := jobs.NewClient(b.rdb, jobs.ClientOptions{})
	record, err := client.Await(ctx, id)
	require.NoError(t, errors.Join(err, client.Close()))
	require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
}

func TestCtrlCStillBringsTheFilesAndEndsTheSession(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	b := setup(t, nil)
	b.sessions.run = func(running context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		err := b.write(running, job, "a.txt", "x")
		interrupt()
		<-running.Done()
		return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, reported(job), err
	}
	out := filepath.Join(b.dir, "out")
	got := b.agentWith(ctx, t, "", "--script", b.file(t, "s.yaml", oneCall), "--out", out)
	require.Equal(t, cli.ExitInterrupted, got.code, got.stderr)
	require.FileExists(t, filepath.Join(out, "a.txt"))
	require.Empty(t, b.names(t))
}

func TestTheTranscriptIsSavedAsTheRunGoes(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	out := filepath.Join(b.dir, "t.json")
	var saved []int // messages in the transcript when a call runs
	b.sessions.run = func(_ context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		transcript, err := agent.LoadTranscript(out)
		if err == nil {
			saved = append(saved, len(transcript.Messages))
		}
		return okay("42\n"), reported(job), err
	}
	twice := strings.Replace(oneCall, "turns:\n", "turns:\n  - calls: [{tool: run_code, arguments: {language: python, code: x}}]\n", 1)
	got := b.agent(t, "--script", b.file(t, "s.yaml", twice), "--transcript", out)
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, []int{2, 4}, saved, "task and turn; results and turn")
}

func TestAnInterruptEndsAReadOfTheTask(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), redis: "127.0.0.1:1"}
	ctx, interrupt := context.WithCancel(t.Context())
	stdin, keyboard := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, b.line([]string{"-"}), b.getenv, stdin, io.Discard, io.Discard) }()
	_, err := keyboard.Write([]byte("t")) // returns once it is being read
	require.NoError(t, err)
	interrupt()
	require.Equal(t, cli.ExitInterrupted, cli.ExitCode(<-ended))
	require.NoError(t, keyboard.Close())
}

func TestARunThatFailedIsResumedInItsSession(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.sessions.run = func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay("42\n"), reported(job), b.write(ctx, job, "kept.txt", "from the first run")
	}
	out := filepath.Join(b.dir, "t.json")
	fails := b.file(t, "f.yaml", oneCall[:strings.Index(oneCall, "  - expect")]+"  - {fail: [{kind: key not accepted}], say: never}\n")
	got := b.agent(t, "--script", fails, "--transcript", out)
	require.Equal(t, exitNoAnswer, got.code, got.stderr)
	require.Contains(t, got.stderr, "agent: no answer: model provider: key not accepted: played by the script\n")
	first := load(t, out)
	require.Equal(t, agent.StopProvider, first.Stop)
	require.Equal(t, "script", first.Provider)
	require.Equal(t, []string{first.Session}, b.names(t), "kept, since the run can be resumed")

	answers := b.file(t, "a.yaml", "turns: [{say: More., calls: [{tool: read_file, arguments: {path: kept.txt}}]}, {expect: [from the first run], say: Done.}]")
	got = b.agent(t, "And more", "--script", answers, "--resume", out)
	require.Equal(t, 0, got.code, got.stderr)
	second := load(t, out)
	require.Equal(t, agent.StopAnswer, second.Stop)
	require.Equal(t, first.Messages, second.Messages[:len(first.Messages)])
	require.Equal(t, "And more", second.Messages[len(first.Messages)].Text)
	require.Equal(t, []string{second.Session}, b.names(t), "the user's by now")
}

func TestARunWhoseSessionIsGoneIsToldSo(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	out, again := filepath.Join(b.dir, "t.json"), filepath.Join(b.dir, "u.json")
	script := b.file(t, "s.yaml", oneCall)
	require.Equal(t, 0, b.agent(t, "--script", script, "--transcript", out).code)
	require.Empty(t, load(t, out).Session, "it ended with its run")
	before, err := os.ReadFile(out)
	require.NoError(t, err)

	got := b.agent(t, "Once more", "--script", script, "--resume", out, "--transcript", again)
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, emptyWorkspace+"\nOnce more", load(t, again).Messages[4].Text)
	after, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the other transcript stays as it was")
}

func TestASessionIsKeptForThoseWhoWantIt(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.sessions.run = func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay("42\n"), reported(job), b.write(ctx, job, "a.txt", "x")
	}
	script := b.file(t, "s.yaml", oneCall)
	require.Equal(t, 0, b.agent(t, "--script", script, "--session", "mine").code)
	require.Equal(t, []string{"mine"}, b.names(t))
	got := b.agent(t, "--script", script, "--keep-session")
	require.Equal(t, 0, got.code)
	require.Len(t, b.names(t), 2)
	require.Contains(t, got.stderr, "agent: the session agent-")
}

func TestFilesOfTheSessionComeOut(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.sessions.run = func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay("42\n"), reported(job), errors.Join(b.write(ctx, job, "deep/a.txt", "new"), b.write(ctx, job, ".hidden", "new"))
	}
	script, out := b.file(t, "s.yaml", oneCall), filepath.Join(b.dir, "out")
	got := b.agent(t, "--script", script, "--out", out)
	require.Equal(t, 0, got.code, got.stderr)
	require.Contains(t, got.stderr, "agent: 2 files in the session, written to "+out)
	content, err := os.ReadFile(filepath.Join(out, "deep", "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
	require.FileExists(t, filepath.Join(out, ".hidden"), "in a new folder there is nothing to spoil")

	got = b.agent(t, "--script", script, "--out", out)
	require.Equal(t, cli.ExitFailure, got.code)
	require.Contains(t, got.stderr, `"deep/a.txt" is not written: it exists`)
	require.Equal(t, 0, b.agent(t, "--script", script, "--out", out, "--force").code)
}

func TestAJobThatNobodyCanAskAboutAnyMoreIsCanceled(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	b := setup(t, untilCanceled(began))
	script := b.file(t, "s.yaml", `{task: t, turns: [{calls: [{tool: submit_job, arguments: {language: python, code: x}}]}, {say: I leave.}]}`)
	out := filepath.Join(b.dir, "t.json")
	require.Equal(t, 0, b.agent(t, "--script", script, "--transcript", out).code)
	b.requireCanceled(t, load(t, out).Messages[2].Results[0].JobID)
}

func TestATranscriptThatCannotBeSavedIsOurFailure(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	folder := filepath.Join(b.dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	b.sessions.run = func(_ context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay("42\n"), reported(job), os.RemoveAll(folder)
	}
	got := b.agent(t, "--script", b.file(t, "s.yaml", oneCall), "--transcript", filepath.Join(folder, "t.json"))
	require.Equal(t, cli.ExitFailure, got.code)
	require.Contains(t, got.stdout, "It is 42.")
	require.Contains(t, got.stderr, "agent: write transcript")
}

// failingWriter is an output that cannot be written to.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestAReaderThatWentAwayEndsTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	script := b.file(t, "s.yaml", oneCall)
	for flag, calls := range map[string]int{"--json": 0, "--json=false": 0, "-q": 1} {
		before := len(b.sessions.all())
		var stderr bytes.Buffer
		err := run(t.Context(), b.line([]string{"--script", script, flag}), b.getenv, strings.NewReader(""), failingWriter{syscall.EPIPE}, &stderr)
		require.Equal(t, cli.ExitBrokenPipe, cli.ExitCode(err), err)
		require.Len(t, b.sessions.all(), before+calls, flag)
		require.Empty(t, b.names(t))
		err = run(t.Context(), b.line([]string{"--script", script, flag}), b.getenv, strings.NewReader(""), failingWriter{syscall.ENOSPC}, io.Discard)
		require.ErrorContains(t, err, "write output: no space left")
		require.Equal(t, cli.ExitFailure, cli.ExitCode(err))
	}
}
