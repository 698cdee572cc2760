package docker

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// reusing allows reuse.
func reusing(o *Options) { o.AllowReuse = true }

// of makes a program one of a batch.
func of(batch string, p sandbox.Program) sandbox.Program {
	p.Reuse = batch
	return p
}

func TestProgramsOfABatchShareAContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	for i := range 5 {
		p := of("a", bash("cat; echo $1; cat data; pwd; exit "+strconv.Itoa(i)))
		p.Stdin, p.Args = []byte("in"+strconv.Itoa(i)+"\n"), []string{"arg" + strconv.Itoa(i)}
		p.Files = []sandbox.File{{Path: "data", Data: []byte("data" + strconv.Itoa(i) + "\n")}}
		got := b.run(t, p)
		n := strconv.Itoa(i)
		require.Equal(t, "in"+n+"\narg"+n+"\ndata"+n+"\n/workspace\n", string(got.Stdout.Data), got.Message)
		require.Equal(t, i, got.ExitCode)
		require.Equal(t, i > 0, got.Enforcement.Reused)
		require.False(t, got.Enforcement.Warm)
		require.Equal(t, 64, got.Enforcement.PIDs)
		require.Equal(t, 256*sandbox.MiB, got.Enforcement.MemoryBytes)
		require.Positive(t, got.PeakMemory)
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
	require.EqualValues(t, 4, b.Stats().Reused)
}

func TestNoOtherProgramGetsAUsedContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	first := of("a", bash("echo one"))
	more := withLimits(first, sandbox.Overrides{Memory: ptr(300 * sandbox.MiB)})
	for name, p := range map[string]sandbox.Program{"another batch": of("b", bash("echo two")), "no batch": bash("echo two"), "other limits": more} {
		b.run(t, first)
		b.awaitKept(t)
		got := b.run(t, p)
		require.Equal(t, sandbox.OutcomeOK, got.Outcome, name)
		require.False(t, got.Enforcement.Reused, name)
	}
	require.Zero(t, b.Stats().Warm)
	require.Zero(t, b.Stats().Stale, "none was even offered")
}

func TestUsedContainerIsNoWarmOne(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	require.True(t, b.run(t, of("a", bash("echo one"))).Enforcement.Warm)
	require.True(t, b.run(t, of("a", bash("echo two"))).Enforcement.Reused)
	require.NoError(t, b.Warm(t.Context()))
	b.awaitKept(t)
	require.EqualValues(t, 1, b.Stats().Warm)
	got := b.run(t, bash("echo three"))
	require.True(t, got.Enforcement.Warm)
	require.False(t, got.Enforcement.Reused)
}

func TestReuseThatTheOperatorForbidsIsNoReuse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 {
		got := b.run(t, of("a", bash("echo fine")))
		require.Equal(t, "fine\n", string(got.Stdout.Data), got.Message)
		require.False(t, got.Enforcement.Reused)
	}
	require.EqualValues(t, 2, b.Stats().ColdStarts)
	require.Zero(t, b.Stats().Kept)
}

func TestProgramWithANetworkHasItsOwnContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing, func(o *Options) { o.AllowNetwork = true })
	p := of("a", bash("echo fine"))
	p.Network = true
	for range 2 {
		require.False(t, b.run(t, p).Enforcement.Reused)
	}
	require.Zero(t, b.Stats().Kept)
}

func TestAnOddEndRetiresTheContainer(t *testing.T) {
	t.Parallel()
	short := sandbox.Overrides{WallTime: wall(testenv.Scale(t, 500*time.Millisecond))}
	for name, tt := range map[string]struct {
		p    sandbox.Program
		want sandbox.Outcome
	}{
		"wall time": {withLimits(bash("sleep 60"), short), sandbox.OutcomeWallTimeout},
		"CPU time":  {withLimits(python("while True: pass"), sandbox.Overrides{CPUTime: wall(200 * time.Millisecond), CPUs: ptr(1.0)}), sandbox.OutcomeCPUTimeout},
		"memory":    {python("x = bytearray(1 << 30)"), sandbox.OutcomeOutOfMemory},
		"a child's memory": {
			bash("python3 -c 'x = bytearray(1 << 30)'", "exit 0"), sandbox.OutcomeOutOfMemory,
		},
		"processes":         {python("import os, time", "try:", "    while os.fork(): pass", "except OSError: os._exit(0)", "time.sleep(60)"), sandbox.OutcomePIDsLimit},
		"output":            {withLimits(bash("while :; do echo yyyyyyyyyyyyyyyy; done"), sandbox.Overrides{OutputKill: ptr(sandbox.KiB)}), sandbox.OutcomeOutputLimit},
		"a crash":           {bash("kill -SEGV $$"), sandbox.OutcomeSignaled},
		"a kill":            {bash("kill -KILL $$"), sandbox.OutcomeSignaled},
		"a full disk":       {bash("head -c 100M /dev/zero >/tmp/x"), sandbox.OutcomeDiskFull},
		"a full disk, well": {bash("head -c 100M /dev/zero >/tmp/x 2>/dev/null", "exit 0"), sandbox.OutcomeOK},
		"compile crashes":   {cProgram("#include </dev/random>\n"), sandbox.OutcomeCompileError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, reusing)
			if tt.p.Language == "c" {
				tt.p.Limits.CompileTime = wall(testenv.Scale(t, time.Second))
			}
			got := b.run(t, of("a", tt.p))
			require.Equal(t, tt.want, got.Outcome, got.Message)
			got = b.run(t, of("a", withLimits(bash("echo next"), tt.p.Limits)))
			require.Equal(t, "next\n", string(got.Stdout.Data), got.Message)
			require.False(t, got.Enforcement.Reused)
			require.EqualValues(t, 2, b.Stats().ColdStarts)
		})
	}
}

func withLimits(p sandbox.Program, limits sandbox.Overrides) sandbox.Program {
	p.Limits = limits
	return p
}

func TestAPlainFailureRetiresNoContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	for _, p := range []sandbox.Program{
		bash("exit 3"), bash("exit 137"), python("1/0"), cProgram("int main(void) { return 1 }"), cProgram("int main(void) { return 4; }"),
		bash("head -c 1M /dev/zero"), bash("sleep 600 & echo hi"), bash("ls >/workspace/out"), bash("exit 0"),
	} {
		b.run(t, of("a", p))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
	require.EqualValues(t, 8, b.Stats().Reused)
}

func TestCanceledProgramRetiresItsContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := of("a", bash("echo started; sleep 60"))
	p.OnOutput = func(sandbox.Output) { cancel(sandbox.ErrCanceled) }
	got, err := b.Run(ctx, p)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
	require.False(t, b.run(t, of("a", bash("echo next"))).Enforcement.Reused)

	lost, stop := context.WithCancel(t.Context())
	defer stop()
	p.OnOutput = func(sandbox.Output) { stop() }
	_, err = b.Run(lost, p)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, b.run(t, of("a", bash("echo next"))).Enforcement.Reused)

	late, cancelLate := context.WithCancelCause(t.Context())
	defer cancelLate(nil)
	_, err = b.RunTests(late, of("a", bash("echo fine")), func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		if previous != nil {
			cancelLate(sandbox.ErrCanceled)
		}
		return sandbox.Test{}, previous == nil
	})
	require.NoError(t, err)
	require.False(t, b.run(t, of("a", bash("echo next"))).Enforcement.Reused, "it came to its end, and a cancel is on its way")
}

func TestContainerIsRetiredAfterSoManyPrograms(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	p := of("a", bash("echo fine"))
	b.run(t, p)
	b.onlyKept(t).jobs = maxReuses - 2
	require.True(t, b.run(t, p).Enforcement.Reused, "the last but one")
	b.awaitKept(t)
	require.True(t, b.run(t, p).Enforcement.Reused, "the last")
	require.False(t, b.run(t, p).Enforcement.Reused)
	b.onlyKept(t).created = time.Now().Add(-b.options.WarmAge)
	require.True(t, b.run(t, p).Enforcement.Reused, "it lives longer than any program that it is given")
	require.False(t, b.run(t, p).Enforcement.Reused)
}

func TestKeptContainerThatDiedIsReplacedWithoutHarm(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	p := of("a", bash("echo fine"))
	b.run(t, p)
	b.awaitKept(t)
	require.NoError(t, b.docker.ContainerKill(t.Context(), b.containers(t)[0].ID, "SIGKILL"))
	got := b.run(t, p)
	require.Equal(t, "fine\n", string(got.Stdout.Data))
	require.False(t, got.Enforcement.Reused)
	require.EqualValues(t, 1, b.Stats().Stale)
}

func TestContainerThatNobodyNeedsIsRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	b.run(t, of("a", bash("echo fine")))
	b.awaitKept(t)
	b.reuse.sweep(t.Context(), time.Now().Add(reuseIdle/2))
	require.EqualValues(t, 1, b.Stats().Kept)
	b.reuse.sweep(t.Context(), time.Now().Add(reuseIdle))
	require.Zero(t, b.Stats().Kept)
	require.Eventually(t, func() bool { return len(b.containers(t)) == 0 }, testenv.Scale(t, 20*time.Second), 20*time.Millisecond)
}

func TestManyProgramsAtOnceShareAsManyContainers(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	var all sync.WaitGroup
	for slot := range 2 {
		all.Go(func() {
			for i := range 10 {
				n := strconv.Itoa(slot) + strconv.Itoa(i)
				got, err := b.Run(t.Context(), of("a", bash("test -z \"$(ls /tmp)\" && touch /tmp/"+n+" && echo "+n)))
				if assert.NoError(t, err) {
					assert.Equal(t, n+"\n", string(got.Stdout.Data), got.Message)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, b.Stats().ColdStarts, int64(3), "two, and one if both waited for the same")
	require.GreaterOrEqual(t, b.Stats().Reused, int64(17))
}

func TestSeriesOfABatchShareAContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	for i := range 3 {
		p := of("a", cProgram(double))
		got, whole := b.runTests(t, p, inputs(3)...)
		require.Len(t, got, 3)
		require.Equal(t, "8\n", string(got[2].Stdout.Data))
		require.Equal(t, i > 0, whole.Enforcement.Reused)
		single := b.run(t, of("a", bash("ls -A /workspace /tmp")))
		require.Equal(t, "/tmp:\n\n/workspace:\nmain.sh\n", string(single.Stdout.Data))
		require.True(t, single.Enforcement.Reused)
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)

	p := of("a", bash("read what; [ $what = late ] && sleep 60; echo $what"))
	p.Limits.WallTime = wall(testenv.Scale(t, time.Second))
	got, _ := b.runTests(t, p, sandbox.Test{Stdin: []byte("late\n")}, sandbox.Test{Stdin: []byte("fine\n")})
	require.Equal(t, sandbox.OutcomeWallTimeout, got[0].Outcome)
	require.Equal(t, "fine\n", string(got[1].Stdout.Data))
	require.False(t, b.run(t, of("a", bash("echo next"))).Enforcement.Reused)
}

func TestFewestOpenFilesAreEnoughInEveryMode(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	p := of("a", bash("cat"))
	p.Limits.OpenFiles, p.Stdin = ptr(int64(16)), []byte("in\n")
	for i := range 2 {
		got := b.run(t, p)
		require.Equal(t, "in\n", string(got.Stdout.Data), got.Message)
		require.Equal(t, i > 0, got.Enforcement.Reused)
	}
	got, whole := b.runTests(t, p, inputs(2)...)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	require.Equal(t, "1\n", string(got[1].Stdout.Data), got[1].Message)
}

// awaitKept waits until there is one container that is clean.
func (b *bundle) awaitKept(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool { return b.Stats().Kept == 1 }, testenv.Scale(t, 10*time.Second), time.Millisecond)
}

// onlyKept returns the one container that is kept, which nobody takes meanwhile.
func (b *bundle) onlyKept(t testing.TB) *box {
	t.Helper()
	b.awaitKept(t)
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	for _, of := range b.reuse.batches {
		for _, kept := range of.ready {
			return kept
		}
	}
	return nil
}
