package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// sourceJudge gives each program the verdict that its source names. A source "wait" is judged when
// its context ends.
type sourceJudge struct {
	mu      sync.Mutex
	judged  map[string]int
	last    sandbox.Program
	task    grade.Task
	waiting chan struct{}
}

func (j *sourceJudge) Judge(ctx context.Context, p sandbox.Program, task grade.Task) (sandbox.Result, *grade.Report, error) {
	source := string(p.Source)
	j.mu.Lock()
	j.judged[source]++
	j.last, j.task = p, task
	j.mu.Unlock()
	if source == "wait" {
		j.waiting <- struct{}{}
		<-ctx.Done()
		if context.Cause(ctx) == sandbox.ErrCanceled { //nolint:errorlint // the cause is the value itself
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil, nil
		}
		return sandbox.Result{}, nil, context.Cause(ctx)
	}
	return okay(""), &grade.Report{Verdict: grade.Verdict(strings.Fields(source)[0]), Message: "as asked"}, nil
}

func (j *sourceJudge) times(source string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.judged[source]
}

// setupJudge makes a bench whose worker judges by source.
func setupJudge(t *testing.T) (*bench, *sourceJudge) {
	t.Helper()
	b := setupWithoutWorker(t)
	judge := &sourceJudge{judged: map[string]int{}, waiting: make(chan struct{}, 100)}
	b.runner = &fakeRunner{run: gives(okay(""))}
	b.serve(t, jobs.WorkerOptions{Runner: b.runner, Judge: judge})
	return b, judge
}

// batchOf makes lines of python programs, each with the id of its number.
func batchOf(sources ...string) string {
	var text strings.Builder
	for i, source := range sources {
		fmt.Fprintf(&text, "{\"id\":%d,\"language\":\"python\",\"code\":%q}\n", i, source)
	}
	return text.String()
}

// verdictsIn lists the verdicts of a results file by id.
func verdictsIn(t *testing.T, path string) map[string]grade.Verdict {
	t.Helper()
	verdicts := map[string]grade.Verdict{}
	for item, err := range results.ReadFile(path) {
		require.NoError(t, err)
		require.NotContains(t, verdicts, item.ID)
		verdicts[item.ID] = item.Verdict
	}
	return verdicts
}

func TestBatchJudgesEachLineAndEndsWithACode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines string
		code  int
	}{
		"all accepted":          {batchOf("AC 1", "AC 2"), 0},
		"one rejected":          {batchOf("AC", "WA"), 1},
		"one could not be done": {batchOf("WA", "IE"), 125},
		"rejected as expected":  {`{"id":"a","language":"python","code":"TLE","expect":["TLE","RE"]}`, 0},
		"not as expected":       {`{"id":"a","language":"python","code":"AC","expect":"WA"}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := setupJudge(t)
			input := b.file(t, "in.jsonl", c.lines)
			got := b.enqueue(t, "batch", input)
			require.Equal(t, c.code, got.code, got.stderr)
			require.Contains(t, got.stdout, "VERDICT")
			require.Len(t, verdictsIn(t, filepath.Join(b.dir, "in.results.jsonl")), strings.Count(c.lines+"\n", "\n{")+1)
			require.NoFileExists(t, filepath.Join(b.dir, "in.results.jsonl.state"))
		})
	}
}

func TestBatchSendsWhatTheCommandLineSays(t *testing.T) {
	t.Parallel()
	b, judge := setupJudge(t)
	got := b.enqueueWith(t.Context(), t, `{"id":"a","code":"AC"}`, "batch", "-", "--results", filepath.Join(b.dir, "r.jsonl"), "-l", "py", "-t", "2",
		"--memory", "64MiB", "--cpus", "0.5", "--mode", "all", "--keep-output", "0", "--reuse")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, "python", judge.last.Language)
	require.Equal(t, 64*sandbox.MiB, *judge.last.Limits.Memory)
	require.InDelta(t, 2, judge.last.Limits.CPUTime.Duration().Seconds(), 0)
	require.InDelta(t, 50, judge.last.Limits.WallTime.Duration().Seconds(), 0)
	require.InDelta(t, 0.5, *judge.last.Limits.CPUs, 0)
	require.NotEmpty(t, judge.last.Reuse)
	require.Equal(t, grade.Everything, judge.task.Mode)
	require.Equal(t, -1, judge.task.KeepOutput)
}

func TestBatchWritesReports(t *testing.T) {
	t.Parallel()
	b, _ := setupJudge(t)
	html, junit := filepath.Join(b.dir, "r.html"), filepath.Join(b.dir, "r.xml")
	got := b.enqueue(t, "batch", b.file(t, "in.jsonl", batchOf("AC", "WA")), "--csv", "-", "--html", html, "--junit", junit, "--title", "Homework 3")
	require.Equal(t, 1, got.code, got.stderr)
	rows := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, rows, 3, got.stdout)
	require.Contains(t, rows[0], "index,id,")
	require.Contains(t, rows[1], "0,0,")
	require.Contains(t, rows[2], "1,1,")
	for path, want := range map[string]string{html: "Homework 3", junit: "<testsuite"} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(content), want)
	}
}

func TestBatchSubmitsNothingWhileALineIsWrong(t *testing.T) {
	t.Parallel()
	b, judge := setupJudge(t)
	input := b.file(t, "in.jsonl", batchOf("AC")+"{\"id\":\"b\"}\n"+batchOf("AC"))
	got := b.enqueue(t, "batch", input)
	require.Equal(t, 2, got.code)
	require.Equal(t, "enqueue: line 2 (\"b\"): language: is not given: want it here, or --language for all lines\n"+
		"enqueue: line 3: id: \"0\" is that of line 1, too: want a name that no other line has\n", got.stderr)
	require.Empty(t, judge.judged)
	require.NoFileExists(t, filepath.Join(b.dir, "in.results.jsonl"))
}

func TestBatchRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir()}
	input := b.file(t, "in.jsonl", batchOf("AC"))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":              {nil, "want one file with a JSON object a line"},
		"two files":            {[]string{input, input}, "want one file"},
		"a missing file":       {[]string{input + "x"}, "no such file"},
		"a folder":             {[]string{b.dir}, "is a folder"},
		"a mode":               {[]string{input, "--mode", "some"}, `--mode: "some" is unknown: want as-needed, first-failure or all`},
		"a window":             {[]string{input, "--window", "0"}, "--window: 0: want at least 1"},
		"a queue":              {[]string{input, "--queue", "slow"}, `--queue: "slow" is unknown`},
		"a language":           {[]string{input, "-l", "cobol"}, `--language: "cobol" is unknown`},
		"a limit":              {[]string{input, "--memory", "1TiB"}, "--memory: 1024GiB is not allowed: want 32MiB to 4GiB"},
		"kept output":          {[]string{input, "--keep-output", "-1"}, "--keep-output: -1: want 0 to 1048576"},
		"results to stdout":    {[]string{input, "--results", "-"}, "--results -: want a file"},
		"no results for stdin": {[]string{"-"}, "--results: want a file for the results"},
		"results over input":   {[]string{input, "--results", input}, "is the batch itself"},
		"a report over them":   {[]string{input, "--csv", filepath.Join(b.dir, "in.results.jsonl")}, "want another file"},
	} {
		got := b.enqueue(t, append([]string{"batch"}, c.args...)...)
		require.Equal(t, 2, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, c.want, name)
		require.Empty(t, got.stdout, name)
	}
}

func TestBatchGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	b, judge := setupJudge(t)
	input := b.file(t, "in.jsonl", batchOf("AC", "wait", "WA"))
	path := filepath.Join(b.dir, "in.results.jsonl")
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		defer interrupt()
		<-judge.waiting
		assert.Eventually(t, func() bool {
			content, _ := os.ReadFile(path)
			return strings.Count(string(content), "\n") == 2
		}, patience, time.Millisecond)
	}()
	got := b.enqueueWith(ctx, t, "", "batch", input, "--cancel-on-interrupt", "--html", filepath.Join(b.dir, "r.html"))
	require.Equal(t, 130, got.code, got.stderr)
	require.Contains(t, got.stderr, "2 of 3 items have a result")
	require.Contains(t, got.stderr, "jobs canceled: 1")
	require.Contains(t, got.stderr, "the same command goes on")
	require.Empty(t, got.stdout)
	require.NoFileExists(t, filepath.Join(b.dir, "r.html"))
	require.Equal(t, map[string]grade.Verdict{"0": "AC", "2": "WA"}, verdictsIn(t, path))

	grown := b.file(t, "grown.jsonl", batchOf("AC", "TLE", "WA"))
	got = b.enqueue(t, "batch", grown, "--results", path)
	require.Equal(t, 1, got.code, got.stderr)
	require.Contains(t, got.stderr, "2 of 3 items have a result in "+path+" already")
	require.Equal(t, map[string]grade.Verdict{"0": "AC", "1": "TLE", "2": "WA"}, verdictsIn(t, path))
	require.Equal(t, 1, judge.times("AC"))
	require.Equal(t, 1, judge.times("WA"))

	b.redis = "127.0.0.1:1" // where nobody listens, and nobody is asked
	got = b.enqueue(t, "batch", grown, "--results", path)
	require.Equal(t, 1, got.code, got.stderr)
	require.Contains(t, got.stdout, "VERDICT")
}

func TestBatchRefusesResultsOfAnotherOne(t *testing.T) {
	t.Parallel()
	b, judge := setupJudge(t)
	path := filepath.Join(b.dir, "r.jsonl")
	require.Equal(t, 0, b.enqueue(t, "batch", b.file(t, "a.jsonl", batchOf("AC 1", "AC 2")), "--results", path).code)
	for name, lines := range map[string]string{"other programs": batchOf("AC 1", "AC 3"), "fewer": batchOf("AC 1")} {
		got := b.enqueue(t, "batch", b.file(t, "b.jsonl", lines), "--results", path)
		require.Equal(t, 2, got.code, name)
		require.Contains(t, got.stderr, "of another batch", name)
		require.Contains(t, got.stderr, "--fresh", name)
	}
	got := b.enqueue(t, "batch", b.file(t, "b.jsonl", batchOf("AC 1")), "--results", path, "--fresh")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, map[string]grade.Verdict{"0": "AC"}, verdictsIn(t, path))
	require.Equal(t, 2, judge.times("AC 1"))
}

func TestBatchOfAPipeNeedsNoFile(t *testing.T) {
	t.Parallel()
	b, _ := setupJudge(t)
	path := filepath.Join(b.dir, "r.jsonl")
	got := b.enqueueWith(t.Context(), t, batchOf("AC", "WA"), "batch", "-", "--results", path)
	require.Equal(t, 1, got.code, got.stderr)
	got = b.enqueueWith(t.Context(), t, batchOf("AC", "WA"), "batch", "-", "--results", path)
	require.Equal(t, 1, got.code, got.stderr)
	require.Contains(t, got.stderr, "2 of 2 items have a result")
}
