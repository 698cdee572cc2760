package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestRunEndsWithACodeForEachOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result sandbox.Result
		code   int
		note   string
	}{
		"ok":                      {okay("out\n"), 0, ""},
		"the program's own":       {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 137}, 137, ""},
		"the program's own, said": {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, Message: "exited with code 3"}, 3, ""},
		"not started":             {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 127, Message: "the program cannot be started: no such file"}, 127, "cannot be started"},
		"a signal":                {sandbox.Result{Outcome: sandbox.OutcomeSignaled, ExitCode: 139, Signal: "SIGSEGV"}, 139, "signal SIGSEGV"},
		"wall time":               {sandbox.Result{Outcome: sandbox.OutcomeWallTimeout, ExitCode: -1, TimedOut: true}, 124, "wall-clock limit"},
		"CPU time":                {sandbox.Result{Outcome: sandbox.OutcomeCPUTimeout, ExitCode: -1, TimedOut: true}, 124, "CPU-time limit"},
		"memory":                  {sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory, ExitCode: 137, Enforcement: sandbox.Enforcement{KernelView: sandbox.KernelView{MemoryBytes: 268435456}}}, 137, "memory limit of 256MiB"},
		"memory of a child":       {sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory, OK: true}, 137, "memory limit"},
		"processes, and ended":    {sandbox.Result{Outcome: sandbox.OutcomePIDsLimit, ExitCode: 1, Enforcement: sandbox.Enforcement{KernelView: sandbox.KernelView{PIDs: 64}}}, 1, "more than 64 processes"},
		"too much output":         {sandbox.Result{Outcome: sandbox.OutcomeOutputLimit, ExitCode: -1}, 153, "wrote too much"},
		"a full disk":             {sandbox.Result{Outcome: sandbox.OutcomeDiskFull, ExitCode: 3}, 3, "was full"},
		"a compile error":         {sandbox.Result{Outcome: sandbox.OutcomeCompileError, ExitCode: -1, Compile: &sandbox.Step{ExitCode: 4, Stderr: stream("a.c:1: error\n")}}, 1, "does not compile"},
		"refused":                 {sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: "limits.memory_bytes: too much"}, 2, "limits.memory_bytes: too much"},
		"our failure":             {sandbox.Result{Outcome: sandbox.OutcomeInfraError, ExitCode: -1, Message: "no Docker daemon"}, 125, "no Docker daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, gives(c.result))
			got := b.enqueue(t, "run", b.file(t, "a.py", "x"))
			require.Equal(t, c.code, got.code, got.stderr)
			require.Equal(t, string(c.result.Stdout.Data), got.stdout)
			if c.note == "" {
				require.Empty(t, got.stderr)
				return
			}
			require.Contains(t, got.stderr, "enqueue: ")
			require.Contains(t, got.stderr, c.note)
		})
	}
}

func TestRunSendsWhatTheCommandLineSays(t *testing.T) {
	t.Parallel()
	b := setup(t, gives(okay("")))
	main, data := b.file(t, "src/prog.py", "print(1)"), b.file(t, "data.csv", "1,2")
	got := b.enqueueWith(t.Context(), t, "input", "run", main, "-t", "2", "--memory", "64MiB", "--stdin", "-", "--file", "in/d.csv="+data,
		"--out", "*.png", "--env", "A=b=c", "--env", "E=", "--arg", "one", "--network", "--", "two", "-x")
	require.Equal(t, 0, got.code, got.stderr)
	wall, memory := sandbox.Seconds(2*time.Second), 64*sandbox.MiB
	sent := b.runner.last(t)
	sent.ID, sent.Attempt, sent.OnOutput = "", 0, nil
	require.Equal(t, sandbox.Program{
		Language: "python", Source: sandbox.Bytes("print(1)"), Main: "prog.py", Stdin: sandbox.Bytes("input"),
		Files: []sandbox.File{{Path: "in/d.csv", Data: sandbox.Bytes("1,2")}}, Outputs: []string{"*.png"},
		Env: map[string]string{"A": "b=c", "E": ""}, Args: []string{"one", "two", "-x"}, Network: true,
		Limits: sandbox.Overrides{WallTime: &wall, Memory: &memory},
	}, sent)
}

func TestRunTellsTheLanguage(t *testing.T) {
	t.Parallel()
	b := setup(t, func(_ context.Context, p sandbox.Program) (sandbox.Result, error) {
		return okay(p.Language + " " + p.Main), nil
	})
	for name, c := range map[string]struct {
		file, source string
		flags        []string
		want         string
	}{
		"by the extension":                 {"a.js", "x", nil, "node a.js"},
		"by the #! line":                   {"tool", "#!/usr/bin/env python3\n", nil, "python "},
		"by -l, whose tools want a name":   {"a.txt", "x", []string{"-l", "cpp"}, "cpp "},
		"by an alias":                      {"a.c", "x", []string{"-l", "py"}, "python "},
		"a name that looks like an option": {"-x.py", "x", nil, "python "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.enqueue(t, append([]string{"run", b.file(t, c.file, c.source)}, c.flags...)...)
			require.Equal(t, c.want, got.stdout, got.stderr)
		})
	}
}

func TestWhatIsRefusedIsNotSubmitted(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t) // a job would wait for ever
	py, text, empty := b.file(t, "a.py", "x"), b.file(t, "a.txt", "x"), b.file(t, "empty.py", "")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":                    {[]string{"run"}, "want the program's file"},
		"two files":                  {[]string{"run", py, text}, "arguments of the program go after --"},
		"an absent file":             {[]string{"run", py + "x"}, "no such file"},
		"an empty file":              {[]string{"run", empty}, "there is nothing to run"},
		"a language that is unknown": {[]string{"run", py, "-l", "cobol"}, `--language: "cobol" is unknown: want one of`},
		"no language":                {[]string{"run", text}, "add -l with one of"},
		"more than the maximum":      {[]string{"run", py, "--memory", "64GiB", "--pids", "9999"}, "--memory: 64GiB is not allowed: want 32MiB to 4GiB\nenqueue: --pids: 9999 is not allowed"},
		"a bad value":                {[]string{"run", py, "-t", "soon"}, `"soon" for "-t, --timeout"`},
		"an unknown flag":            {[]string{"run", py, "--fast"}, "--fast"},
		"a bad variable":             {[]string{"run", py, "--env", "A"}, `--env "A": want NAME=VALUE`},
		"a bad pattern":              {[]string{"run", py, "--out", "../x"}, "outputs[0]"},
		"a file twice":               {[]string{"run", py, "--file", "a=" + text, "--file", "a=" + text}, "is given twice"},
		"a file outside":             {[]string{"run", py, "--file", "../a=" + text}, "not a clean relative path"},
		"stdin twice":                {[]string{"run", "-", "-l", "py", "--stdin", "-"}, "--stdin -"},
		"a bad queue":                {[]string{"run", py, "--queue", "fast"}, `--queue: "fast" is unknown: want one of interactive, default, batch`},
		"an unknown command":         {[]string{"rnu"}, "unknown command"},
		"wait for nothing":           {[]string{"wait"}, "want the ids of jobs"},
		"a folder that is a file":    {[]string{"run", py, "--out-dir", text}, "is not a folder"},
		"result of two":              {[]string{"result", "a", "b"}, "want the id of one job"},
		"a key for two files":        {[]string{"submit", py, py, "--key", "k"}, "one key is one job"},
		"a bad configuration":        {[]string{"run", py, "--redis", "ftp://x"}, "redis.addr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.enqueue(t, c.args...)
			require.Equal(t, exitUsage, got.code, got.stderr)
			require.Contains(t, got.stderr, c.want)
			require.Empty(t, got.stdout)
		})
	}
}

func TestInputThatIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	config := b.file(t, "sandloop.yaml", "limits: {defaults: {input_bytes: 4KiB}}\n")
	small, large := b.file(t, "small.py", strings.Repeat("x", 4000)), b.file(t, "large.py", strings.Repeat("x", 4097))
	for name, args := range map[string][]string{
		"the program": {large}, "with its stdin": {small, "--stdin", small}, "stdin without end": {small, "--stdin", "/dev/zero"}, "with a file": {small, "--file", "a=" + small},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.enqueue(t, append([]string{"run", "--config", config}, args...)...)
			require.Equal(t, exitUsage, got.code, got.stderr)
			require.Regexp(t, "is larger than the .* that a job may send|the files are larger than a job may send", got.stderr)
		})
	}
}

func TestInterruptEndsAReadThatWaits(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	stdin, keyboard := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"run", "--config", os.DevNull, "-l", "python", "-"}, stdin, io.Discard, io.Discard)
	}()
	_, err := keyboard.Write([]byte("p")) // returns once it is being read
	require.NoError(t, err)
	interrupt()
	select {
	case err := <-ended:
		require.Equal(t, exitInterrupted, exitCode(err), err)
	case <-time.After(patience):
		require.Fail(t, "the read went on")
	}
	require.NoError(t, keyboard.Close())
}

func TestAJobThatIsTooLargeForTheQueueIsRefused(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	config := b.file(t, "sandloop.yaml", "jobs: {body_limit: 1KiB}\n")
	got := b.enqueue(t, "run", "--config", config, b.file(t, "a.py", strings.Repeat("x", 2000)))
	require.Equal(t, exitUsage, got.code, got.stderr)
	require.Contains(t, got.stderr, "want at most 1024")
}

func TestAPatternThatNothingCameBackForIsNamed(t *testing.T) {
	t.Parallel()
	result := okay("")
	result.Files = []sandbox.File{{Path: "out/a.txt", Data: sandbox.Bytes("a")}}
	result.RefusedFiles = []sandbox.RefusedFile{{Path: "link", Reason: "is a symbolic link"}}
	b := setup(t, gives(result))
	got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--out-dir", b.dir, "--out", "plot.png", "--out", "out/**", "--out", "link")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.stderr, "enqueue: --out plot.png: the program left no such file\n")
	require.Equal(t, 1, strings.Count(got.stderr, "left no such file"), got.stderr)
}

func TestRunJSONIsTheWholeRecordAndNothingElse(t *testing.T) {
	t.Parallel()
	result := okay("\xff\n")
	result.Files = []sandbox.File{{Path: "a", Data: sandbox.Bytes("b")}}
	b := setup(t, gives(result))
	out := filepath.Join(b.dir, "out")
	t.Run("files stay in the record", func(t *testing.T) {
		got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--json")
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, 1, strings.Count(got.stdout, "\n"))
		record := decode[jobs.Record](t, got.stdout)
		require.Equal(t, result.Stdout, record.Result.Stdout)
		require.Equal(t, result.Files, record.Result.Files)
		require.Len(t, record.Attempts, 1)
		require.NoFileExists(t, "a")
	})
	t.Run("and are written where --out-dir says", func(t *testing.T) {
		got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--json", "--out-dir", out)
		require.Equal(t, 0, got.code, got.stderr)
		requireFile(t, filepath.Join(out, "a"), "b", 0o644)
	})
}

func TestAFileThatCannotBeWrittenIsOurFailure(t *testing.T) {
	t.Parallel()
	result := okay("printed\n")
	result.Files = []sandbox.File{{Path: "../../up", Data: sandbox.Bytes("evil")}, {Path: "good", Data: sandbox.Bytes("good")}}
	result.RefusedFiles = []sandbox.RefusedFile{{Path: "link\x1b[2J", Reason: "is a symbolic link"}}
	b := setup(t, gives(result))
	out := filepath.Join(b.dir, "out")
	got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--out", "**", "--out-dir", out)
	require.Equal(t, exitFailure, got.code)
	require.Equal(t, "printed\n", got.stdout)
	require.Contains(t, got.stderr, `"../../up" is not written`)
	require.Contains(t, got.stderr, `link\x1b[2J" does not come back: is a symbolic link`)
	require.NotContains(t, got.stderr, "\x1b")
	requireFile(t, filepath.Join(out, "good"), "good", 0o644)
}

func TestRunPrintsWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	b := setup(t, func(_ context.Context, p sandbox.Program) (sandbox.Result, error) {
		p.OnOutput(piece("run", "stdout", "first\n"))
		<-goOn
		return okay("first\nsecond\n"), nil
	})
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	program := b.file(t, "a.py", "x")
	go func() {
		err := run(t.Context(), []string{"--config", os.DevNull, "--redis", b.redis, "run", program}, strings.NewReader(""), writer, io.Discard)
		ended <- errors.Join(err, writer.Close())
	}()
	first := make([]byte, 6)
	_, err := io.ReadFull(reader, first)
	require.NoError(t, err)
	require.Equal(t, "first\n", string(first))
	close(goOn)
	rest, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, "second\n", string(rest))
	require.NoError(t, <-ended)
}

// untilCanceled runs until somebody cancels the job, and tells when it has begun.
func untilCanceled(began chan<- struct{}) func(context.Context, sandbox.Program) (sandbox.Result, error) {
	return func(ctx context.Context, p sandbox.Program) (sandbox.Result, error) {
		p.OnOutput(piece("run", "stdout", "partial\n"))
		close(began)
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), sandbox.ErrCanceled) {
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1, Stdout: stream("partial\n")}, nil
		}
		return sandbox.Result{}, context.Cause(ctx)
	}
}

func TestCtrlCCancelsTheJob(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	b := setup(t, untilCanceled(began))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-began
		interrupt()
	}()
	got := b.enqueueWith(ctx, t, "", "run", b.file(t, "a.py", "x"))
	require.Equal(t, exitInterrupted, got.code, got.stderr)
	require.Equal(t, "partial\n", got.stdout)
	require.Contains(t, got.stderr, "canceling job")
	require.Contains(t, got.stderr, "was canceled")
}

func TestAReaderThatWentAwayCancelsTheJob(t *testing.T) {
	t.Parallel()
	b := setup(t, untilCanceled(make(chan struct{})))
	var stderr bytes.Buffer
	err := run(t.Context(), []string{"--config", os.DevNull, "--redis", b.redis, "run", b.file(t, "a.py", "x")},
		strings.NewReader(""), failingWriter{syscall.EPIPE}, &stderr)
	require.Equal(t, exitBrokenPipe, exitCode(err), stderr.String())
	require.Empty(t, stderr.String())
	id := b.runner.last(t).ID
	require.Equal(t, exitNotOK, b.enqueue(t, "wait", id).code)
	require.Equal(t, exitInterrupted, b.enqueue(t, "result", id).code)
}

func TestAFullDiskUnderOurOutputIsOurFailure(t *testing.T) {
	t.Parallel()
	b := setup(t, gives(okay("x")))
	for _, flag := range []string{"--json", "--json=false"} {
		err := run(t.Context(), []string{"--config", os.DevNull, "--redis", b.redis, "run", b.file(t, "a.py", "x"), flag},
			strings.NewReader(""), failingWriter{syscall.ENOSPC}, io.Discard)
		require.Equal(t, exitFailure, exitCode(err))
		require.ErrorContains(t, err, "write output: no space left")
	}
}

func TestRunTellsThatThereIsNoWorker(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--wait-timeout", "4")
	require.Equal(t, exitFailure, got.code)
	require.Contains(t, got.stderr, "no worker is running")
}

func TestAWaitThatIsTooLongLeavesTheJob(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--wait-timeout", "0.2")
	require.Equal(t, exitFailure, got.code)
	require.Regexp(t, `job (\w+) is still queued and goes on: enqueue wait \w+`, got.stderr)
}

func TestNoRedisIsOurFailureAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), redis: "127.0.0.1:1"}
	got := b.enqueue(t, "run", b.file(t, "a.py", "x"))
	require.Equal(t, exitFailure, got.code)
	require.Contains(t, got.stderr, "127.0.0.1:1")

	config := b.file(t, "sandloop.yaml", "redis: {addr: embedded, embedded_addr: '127.0.0.1:1'}\n")
	b.redis = ""
	got = b.enqueue(t, "run", b.file(t, "a.py", "x"), "--config", config)
	require.Equal(t, exitFailure, got.code, got.stderr)
	require.Contains(t, got.stderr, "start bin/worker --embedded in another terminal")
}
