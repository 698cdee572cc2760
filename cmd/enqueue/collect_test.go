package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// bySource fails programs whose source says so.
func bySource(_ context.Context, p sandbox.Program) (sandbox.Result, error) {
	switch string(p.Source) {
	case "bad":
		return sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, Stdout: stream("half\n"), Stderr: stream("oops\n")}, nil
	case "lost":
		return sandbox.Result{Outcome: sandbox.OutcomeInfraError, ExitCode: -1, Message: "no daemon"}, nil
	}
	return okay(string(p.Source) + " done\n"), nil
}

func (b *bench) submit(t *testing.T, source string) string {
	t.Helper()
	got := b.enqueueWith(t.Context(), t, source, "submit", "-l", "python", "-")
	require.Equal(t, 0, got.code, got.stderr)
	return strings.TrimSpace(got.stdout)
}

func TestSubmitWaitResult(t *testing.T) {
	t.Parallel()
	b := setup(t, bySource)
	good, bad, lost := b.submit(t, "good"), b.submit(t, "bad"), b.submit(t, "lost")

	got := b.enqueue(t, "wait", good)
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, []string{good, "ok", "0", "0.000"}, strings.Fields(got.stdout))
	got = b.enqueue(t, "wait", good, bad)
	require.Equal(t, exitNotOK, got.code)
	require.Equal(t, 2, strings.Count(got.stdout, "\n"))
	require.Contains(t, got.stdout, "nonzero_exit")
	require.Equal(t, exitFailure, b.enqueue(t, "wait", lost, bad, good).code)
	got = b.enqueue(t, "wait", "--json", good)
	require.Equal(t, good, decode[jobs.Record](t, got.stdout).JobID)

	got = b.enqueue(t, "result", good)
	require.Equal(t, ran{stdout: "good done\n"}, got)
	got = b.enqueue(t, "result", bad)
	require.Equal(t, ran{stdout: "half\n", stderr: "oops\n", code: 3}, got)
	got = b.enqueue(t, "result", lost)
	require.Equal(t, ran{stderr: "enqueue: no daemon\n", code: 125}, got)

	got = b.enqueue(t, "status", bad, "--json")
	status := decode[jobs.Status](t, got.stdout)
	require.Equal(t, jobs.Done, status.State)
	require.Equal(t, sandbox.OutcomeNonzeroExit, status.Outcome)
	got = b.enqueue(t, "status", bad)
	require.Contains(t, got.stdout, "outcome    nonzero_exit\n")
}

func TestSubmitTakesSeveralFilesInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, bySource)
	got := b.enqueue(t, "submit", b.file(t, "a.py", "A"), b.file(t, "b.js", "B"), "--json")
	require.Equal(t, 0, got.code, got.stderr)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 2)
	for i, want := range []string{"A done\n", "B done\n"} {
		id := decode[jobs.Submission](t, lines[i]).ID
		require.Equal(t, 0, b.enqueue(t, "wait", id).code)
		require.Equal(t, want, b.enqueue(t, "result", id).stdout)
	}
}

func TestOneKeyIsOneJob(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	a, other := b.file(t, "a.py", "A"), b.file(t, "b.py", "B")
	first := b.enqueue(t, "submit", a, "--key", "k")
	require.Equal(t, 0, first.code, first.stderr)
	require.Equal(t, first, b.enqueue(t, "submit", a, "--key", "k"))
	require.NotEqual(t, first.stdout, b.enqueue(t, "submit", a, "--key", "k", "--tenant", "me").stdout)
	got := b.enqueue(t, "submit", other, "--key", "k")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.stderr, "different content")
}

func TestCancelBeforeTheStart(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	id := b.submit(t, "x")
	got := b.enqueue(t, "result", id)
	require.Equal(t, exitFailure, got.code)
	require.Contains(t, got.stderr, "not done yet")
	require.Equal(t, ran{}, b.enqueue(t, "cancel", id))
	got = b.enqueue(t, "result", id)
	require.Equal(t, exitInterrupted, got.code)
	require.Contains(t, got.stderr, "canceled")
	require.Equal(t, exitNotOK, b.enqueue(t, "wait", id).code)
}

func TestAJobThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for _, command := range []string{"wait", "result", "status", "cancel"} {
		got := b.enqueue(t, command, "nobody")
		require.Equal(t, exitFailure, got.code, command)
		require.Contains(t, got.stderr, "no such job", command)
	}
}

func TestCommandsThatNeedNoRedis(t *testing.T) {
	t.Parallel()
	b := &bench{redis: "127.0.0.1:1"}
	got := b.enqueue(t, "languages")
	require.Equal(t, 0, got.code, got.stderr)
	require.Regexp(t, `(?m)^python +py python3 +\.py `, got.stdout)
	languages := decode[[]languageLine](t, b.enqueue(t, "languages", "--json").stdout)
	require.NotEmpty(t, languages)
	got = b.enqueue(t, "version")
	require.Regexp(t, `^enqueue \S+ go1\.`, got.stdout)
	got = b.enqueue(t, "--help")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.stdout, "124  the wall-clock")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		require.Contains(t, b.enqueue(t, "completion", shell).stdout, "enqueue")
	}
}
