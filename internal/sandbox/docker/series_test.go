package docker

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// runTests runs a program on tests and returns what became of each and of the whole.
func (b *bundle) runTests(t testing.TB, p sandbox.Program, tests ...sandbox.Test) ([]sandbox.TestResult, sandbox.Result) {
	t.Helper()
	var got []sandbox.TestResult
	whole, err := b.RunTests(t.Context(), p, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		if previous != nil {
			got = append(got, *previous)
		}
		if len(got) == len(tests) {
			return sandbox.Test{}, false
		}
		return tests[len(got)], true
	})
	require.NoError(t, err)
	return got, whole
}

// cProgram is one in C.
func cProgram(source string) sandbox.Program {
	return sandbox.Program{Language: "c", Source: []byte(source)}
}

// double prints the double of the number that it reads, and when the program was compiled.
const double = `#include <stdio.h>
static const char compiled[] = __TIME__;
int main(void) { long n; if (scanf("%ld", &n) != 1) return 3; printf("%ld\n", 2 * n); fprintf(stderr, "%s", compiled); return 0; }
`

func inputs(n int) (tests []sandbox.Test) {
	for i := range n {
		tests = append(tests, sandbox.Test{ID: strconv.Itoa(i), Stdin: []byte(strconv.Itoa(i*i) + "\n")})
	}
	return tests
}

func TestSubmissionIsCompiledOnceForTwentyTests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got, whole := b.runTests(t, cProgram(double), inputs(20)...)
	require.Len(t, got, 20)
	for i, result := range got {
		require.Equal(t, strconv.Itoa(i), result.ID)
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
		require.True(t, result.OK)
		require.Equal(t, strconv.Itoa(2*i*i)+"\n", string(result.Stdout.Data))
		require.Equal(t, string(got[0].Stderr.Data), string(result.Stderr.Data), "the same binary")
		require.Positive(t, result.Duration)
		require.Positive(t, result.CPUUser+result.CPUSystem)
		require.Positive(t, result.PeakMemory)
	}
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome)
	require.True(t, whole.OK)
	require.Equal(t, sandbox.OutcomeOK, whole.Compile.Outcome)
	require.Equal(t, 64, whole.Enforcement.PIDs)
	require.EqualValues(t, 1, b.Stats().ColdStarts, "one container")
}

func TestSeriesWithoutACompileStep(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import sys", "print(sys.argv[1:], input())")
	p.Args = []string{"first"}
	got, whole := b.runTests(t, p, sandbox.Test{ID: "a", Args: []string{"x y"}, Stdin: []byte("1")}, sandbox.Test{ID: "b", Stdin: []byte("2")})
	require.Equal(t, "['first', 'x y'] 1\n", string(got[0].Stdout.Data))
	require.Equal(t, "['first'] 2\n", string(got[1].Stdout.Data))
	require.Nil(t, whole.Compile)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome)
}

func TestSeriesOfNoTests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got, whole := b.runTests(t, cProgram(double))
	require.Empty(t, got)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome)
	require.NotNil(t, whole.Compile)
}

func TestSeriesThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got, whole := b.runTests(t, cProgram("int main(void) { return x; }\n"), inputs(3)...)
	require.Empty(t, got, "next is not asked")
	require.Equal(t, sandbox.OutcomeCompileError, whole.Outcome)
	require.False(t, whole.OK)
	require.Contains(t, string(whole.Compile.Stderr.Data), "undeclared")
}

func TestSeriesStopsWhenTheCallerHasEnough(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := 0
	whole, err := b.RunTests(t.Context(), bash("read -r n; exit $n"), func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		asked++
		if previous != nil && !previous.OK {
			require.Equal(t, "1", previous.ID)
			require.Equal(t, 1, previous.ExitCode)
			return sandbox.Test{}, false
		}
		return sandbox.Test{ID: strconv.Itoa(asked - 1), Stdin: []byte(strconv.Itoa(asked-1) + "\n")}, true
	})
	require.NoError(t, err)
	require.Equal(t, 3, asked)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, "the whole went as asked")
}

func TestSeriesLimitsAreThoseOfEachTest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("read -r what", `case $what in sleep) sleep 60;; spin) while :; do :; done;; *) echo "$what";; esac`)
	p.Limits.CPUs = ptr(1.0)
	got, whole := b.runTests(t, p,
		sandbox.Test{ID: "wall", Stdin: []byte("sleep\n"), WallTime: wall(300 * time.Millisecond)},
		sandbox.Test{ID: "cpu", Stdin: []byte("spin\n"), CPUTime: wall(200 * time.Millisecond)},
		sandbox.Test{ID: "fine", Stdin: []byte("fine\n")},
	)
	require.Equal(t, sandbox.OutcomeWallTimeout, got[0].Outcome)
	require.Equal(t, "stopped at the wall-clock limit of 0.3 s", got[0].Message)
	require.True(t, got[0].TimedOut)
	require.Equal(t, sandbox.OutcomeCPUTimeout, got[1].Outcome)
	require.Equal(t, "stopped at the CPU-time limit of 0.2 s", got[1].Message)
	require.Equal(t, sandbox.OutcomeOK, got[2].Outcome, got[2].Message)
	require.Equal(t, "fine\n", string(got[2].Stdout.Data))
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome)
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestSeriesGoesOnAfterEveryKindOfFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python(
		"import os, sys", "what = input()",
		"if what == 'crash': os.abort()",
		"if what == 'exit': sys.exit(7)",
		"if what == 'memory': x = bytearray(400 << 20)",
		"if what == 'files': open('/tmp/full', 'wb').write(bytes(80 << 20))",
		"if what == 'much':",
		"    while True: sys.stdout.write('x' * 65536)",
		"if what == 'bomb':",
		"    while True:",
		"        try: os.fork()",
		"        except OSError: pass",
		"print(what)",
	)
	p.Limits.OutputKill = ptr(sandbox.MiB)
	var tests []sandbox.Test
	for _, what := range []string{"crash", "a", "exit", "b", "memory", "c", "files", "d", "much", "e", "bomb", "f"} {
		tests = append(tests, sandbox.Test{ID: what, Stdin: []byte(what + "\n"), WallTime: wall(min(testenv.Scale(t, 5*time.Second), sandbox.DefaultMaxima().WallTime))})
	}
	got, _ := b.runTests(t, p, tests...)
	require.Len(t, got, 12)
	for i, want := range []sandbox.Outcome{
		sandbox.OutcomeSignaled, sandbox.OutcomeNonzeroExit, sandbox.OutcomeOutOfMemory,
		sandbox.OutcomeDiskFull, sandbox.OutcomeOutputLimit, sandbox.OutcomeWallTimeout,
	} {
		require.Equal(t, want, got[2*i].Outcome, got[2*i].ID)
		next := got[2*i+1]
		require.Equal(t, sandbox.OutcomeOK, next.Outcome, "after %s: %s %s", got[2*i].ID, next.Message, next.Stderr.Data)
		require.Equal(t, next.ID+"\n", string(next.Stdout.Data))
	}
	require.Positive(t, got[4].OOMKills)
	require.Zero(t, got[5].OOMKills)
	require.Positive(t, got[10].PIDsDenied)
	require.Zero(t, got[11].PIDsDenied)
}

func TestSeriesRefusesATestThatAsksForTooMuch(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Defaults.InputBytes = 1000 })
	for name, tt := range map[string]struct {
		test sandbox.Test
		want string
	}{
		"wall time": {sandbox.Test{ID: "x", WallTime: wall(time.Hour)}, `test "x": limits.wall_seconds: 1h0m0s is not allowed`},
		"no time":   {sandbox.Test{ID: "x", CPUTime: wall(0)}, `test "x": limits.cpu_seconds: 0s is not allowed`},
		"stdin":     {sandbox.Test{ID: "x", Stdin: make([]byte, 1001)}, `test "x": stdin: is 1001 bytes: want at most 1000`},
		"argument":  {sandbox.Test{ID: "x", Args: []string{"\x00"}}, `test "x": args[0]: holds a NUL byte`},
	} {
		got, whole := b.runTests(t, bash("echo ran"), sandbox.Test{ID: "fine"}, tt.test, sandbox.Test{ID: "not asked for"})
		require.Len(t, got, 1, name)
		require.Equal(t, "ran\n", string(got[0].Stdout.Data))
		require.Equal(t, sandbox.OutcomeRejected, whole.Outcome)
		require.Contains(t, whole.Message, tt.want)
	}
}

func TestSeriesCanceledInATest(t *testing.T) {
	b := setup(t) // not parallel: it measures time
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := bash("read -r n", "echo $n", `[ "$n" = 0 ] || { :(){ :|:& };: ; sleep 60; }`)
	seen := 0
	p.OnOutput = func(sandbox.Output) {
		if seen++; seen == 2 {
			cancel(sandbox.ErrCanceled)
		}
	}
	begun := time.Time{}
	asked := 0
	whole, err := b.RunTests(ctx, p, func(*sandbox.TestResult) (sandbox.Test, bool) {
		begun = time.Now()
		asked++
		return sandbox.Test{Stdin: []byte(strconv.Itoa(asked-1) + "\n")}, true
	})
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	require.Equal(t, sandbox.OutcomeCanceled, whole.Outcome)
	require.Equal(t, "1\n", string(whole.Stdout.Data))
	require.Less(t, time.Since(begun), testenv.Scale(t, 2*time.Second))
}

// The series may have ended in the moment in which it was canceled.
func TestSeriesThatIsCanceledAtItsEndIsGoneWhenItReturns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 5 {
		ctx, cancel := context.WithCancelCause(t.Context())
		asked := 0
		_, _ = b.RunTests(ctx, bash("echo up"), func(*sandbox.TestResult) (sandbox.Test, bool) {
			if asked++; asked == 2 {
				cancel(errors.New("no longer wanted"))
			}
			return sandbox.Test{}, asked < 2
		})
		require.Empty(t, b.containers(t))
	}
}

func TestSeriesCanceledBetweenTests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, cause := range map[string]error{"canceled": sandbox.ErrCanceled, "lost": errors.New("attempt lost")} {
		ctx, cancel := context.WithCancelCause(t.Context())
		asked := 0
		whole, err := b.RunTests(ctx, bash("echo up"), func(previous *sandbox.TestResult) (sandbox.Test, bool) {
			if asked++; asked == 2 {
				require.Equal(t, "up\n", string(previous.Stdout.Data))
				cancel(cause)
			}
			return sandbox.Test{}, true
		})
		require.Equal(t, 2, asked, name)
		if errors.Is(cause, sandbox.ErrCanceled) {
			require.NoError(t, err)
			require.Equal(t, sandbox.OutcomeCanceled, whole.Outcome)
		} else {
			require.ErrorIs(t, err, cause)
			require.Empty(t, b.containers(t), "the container is gone when it returns")
		}
	}
}

func TestSeriesPanicOfTheCallerLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.PanicsWithValue(t, "in next", func() {
		_, _ = b.RunTests(t.Context(), bash("echo up"), func(*sandbox.TestResult) (sandbox.Test, bool) { panic("in next") })
	})
	require.Empty(t, b.containers(t))
}

func TestSeriesReturnsFilesOfTheLastTest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("read -r n; echo $n > $n.txt")
	p.Outputs = []string{"*.txt"}
	_, whole := b.runTests(t, p, sandbox.Test{Stdin: []byte("1\n")}, sandbox.Test{Stdin: []byte("2\n")})
	require.Equal(t, []sandbox.File{{Path: "2.txt", Data: []byte("2\n")}}, whole.Files)
}

func TestSeriesWhoseContainerIsRemovedByHandIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	removed := false
	_, err := b.RunTests(t.Context(), bash("echo up"), func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		if previous != nil && !removed {
			removed = true
			for _, c := range b.containers(t) {
				require.NoError(t, b.docker.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true}))
			}
		}
		return sandbox.Test{}, true
	})
	require.ErrorContains(t, err, "killed, removed or cut off while the job ran")
}

func TestSeriesHasALiveOutput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("read -r n; echo $n")
	var live []string
	p.OnOutput = func(o sandbox.Output) { live = append(live, o.Step+" "+string(o.Data)) }
	b.runTests(t, p, sandbox.Test{Stdin: []byte("1\n")}, sandbox.Test{Stdin: []byte("2\n")})
	require.Equal(t, []string{"run 1\n", "run 2\n"}, live)
}

func TestSeriesKeepsHeadAndTailOfEachTest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("n = int(input())", "print('a' * n + 'z' * n, end='')")
	p.Limits.Output = ptr(int64(1000))
	got, _ := b.runTests(t, p, sandbox.Test{Stdin: []byte("100000\n")}, sandbox.Test{Stdin: []byte("5\n")})
	require.Equal(t, strings.Repeat("a", 500)+strings.Repeat("z", 500), string(got[0].Stdout.Data))
	require.EqualValues(t, 200_000, got[0].Stdout.Total)
	require.True(t, got[0].Stdout.Truncated)
	require.Equal(t, "aaaaazzzzz", string(got[1].Stdout.Data))
	require.False(t, got[1].Stdout.Truncated)
}
