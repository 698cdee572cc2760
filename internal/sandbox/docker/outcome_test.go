package docker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits()
	limits.WallTime, limits.CPUTime, limits.OutputKill = 2500*time.Millisecond, 2*time.Second, 1000
	for name, tt := range map[string]struct {
		step wire.StepReport
		want verdict
	}{
		"exit 0":                {wire.StepReport{}, verdict{outcome: "ok"}},
		"exit 3":                {wire.StepReport{ExitCode: 3}, verdict{"nonzero_exit", 3, "", false, "exited with code 3"}},
		"the program's own 137": {wire.StepReport{ExitCode: 137}, verdict{"nonzero_exit", 137, "", false, "exited with code 137"}},
		"segmentation fault":    {wire.StepReport{ExitCode: -1, Signal: 11}, verdict{"signaled", 139, "SIGSEGV", false, "killed by SIGSEGV"}},
		"SIGKILL of its own":    {wire.StepReport{ExitCode: -1, Signal: 9}, verdict{"signaled", 137, "SIGKILL", false, "killed by SIGKILL"}},
		"real-time signal":      {wire.StepReport{ExitCode: -1, Signal: 40}, verdict{"signaled", 168, "SIG40", false, "killed by SIG40"}},
		"wall clock": {
			wire.StepReport{Cause: wire.CauseWall, ExitCode: -1, Signal: 9},
			verdict{"wall_timeout", -1, "", true, "stopped at the wall-clock limit of 2.5 s"},
		},
		"wall clock of a compiler": {
			wire.StepReport{Name: "compile", Cause: wire.CauseWall, ExitCode: -1, Signal: 9},
			verdict{"wall_timeout", -1, "", true, "stopped at the wall-clock limit of 30 s"},
		},
		"CPU time": {
			wire.StepReport{Cause: wire.CauseCPU, ExitCode: -1, Signal: 9},
			verdict{"cpu_timeout", -1, "", true, "stopped at the CPU-time limit of 2 s"},
		},
		"output": {
			wire.StepReport{Cause: wire.CauseOutput, ExitCode: -1, Signal: 9},
			verdict{"output_limit", -1, "", false, "stopped when a stream passed the limit of 1000 bytes"},
		},
		"canceled": {
			wire.StepReport{Cause: wire.CauseCanceled, ExitCode: -1, Signal: 9},
			verdict{"canceled", -1, "", false, "canceled while it ran"},
		},
		"wall clock goes before an OOM kill on the way": {
			wire.StepReport{Cause: wire.CauseWall, ExitCode: -1, Signal: 9, OOMKills: 1},
			verdict{"wall_timeout", -1, "", true, "stopped at the wall-clock limit of 2.5 s"},
		},
		"main process OOM-killed": {
			wire.StepReport{ExitCode: -1, Signal: 9, OOMKills: 1},
			verdict{"out_of_memory", 137, "SIGKILL", false, "the kernel killed a process for the memory limit of 256 MiB"},
		},
		"child OOM-killed and exit 0": {
			wire.StepReport{OOMKills: 2, PIDsDenied: 5},
			verdict{"out_of_memory", 0, "", false, "the kernel killed 2 processes for the memory limit of 256 MiB"},
		},
		"fork refused": {
			wire.StepReport{ExitCode: 1, PIDsDenied: 1},
			verdict{"pids_limit", 1, "", false, "a process or thread was refused: the limit is 64 at once"},
		},
		"disk full and failed": {
			wire.StepReport{ExitCode: 1, DiskFull: "/tmp"},
			verdict{"disk_full", 1, "", false, "/tmp was full: the limit is 64 MiB"},
		},
		"disk full and happy": {wire.StepReport{DiskFull: "/workspace"}, verdict{outcome: "ok"}},
		"program is missing": {
			wire.StepReport{StartError: "pythn: not found", ExitCode: -1},
			verdict{"nonzero_exit", 127, "", false, "the program cannot be started: pythn: not found"},
		},
		"program cannot be executed": {
			wire.StepReport{StartError: "main: permission denied", ExitCode: 126},
			verdict{"nonzero_exit", 126, "", false, "the program cannot be started: main: permission denied"},
		},
	} {
		require.Equal(t, tt.want, judge(tt.step, limits), name)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{1: "1 bytes", 1000: "1000 bytes", 65536: "64 KiB", 3 << 30: "3 GiB", 256 << 20: "256 MiB"} {
		require.Equal(t, want, size(bytes))
	}
}

func TestSignalNames(t *testing.T) {
	t.Parallel()
	for number, want := range map[int]string{1: "SIGHUP", 9: "SIGKILL", 15: "SIGTERM", 16: "SIGSTKFLT", 31: "SIGSYS", 32: "SIG32", 64: "SIG64"} {
		require.Equal(t, want, signalName(number))
	}
}

func reported(name string, step wire.StepReport, heads ...string) stepOutput {
	step.Name = name
	out := stepOutput{name: name, report: &step}
	for i, head := range heads {
		out.heads[i] = []byte(head)
	}
	return out
}

func TestResultOfACompileErrorHoldsTheStep(t *testing.T) {
	t.Parallel()
	got := resultOf(report{
		start: &wire.Start{}, end: &wire.End{},
		steps: []stepOutput{reported("compile", wire.StepReport{ExitCode: 1, StderrTotal: 5}, "", "wrong"), {name: "run"}},
	}, sandbox.DefaultLimits())
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
	require.Equal(t, 1, got.ExitCode)
	require.False(t, got.OK)
	require.Equal(t, "compile: exited with code 1", got.Message)
	require.Equal(t, "wrong", string(got.Compile.Stderr.Data))
	require.Equal(t, sandbox.OutcomeNonzeroExit, got.Compile.Outcome)
	require.Empty(t, got.Stderr.Data)
}

func TestResultOfACompilerThatNeverEnds(t *testing.T) {
	t.Parallel()
	got := resultOf(report{
		start: &wire.Start{}, end: &wire.End{},
		steps: []stepOutput{reported("compile", wire.StepReport{Cause: wire.CauseWall, ExitCode: -1, Signal: 9}), {name: "run"}},
	}, sandbox.DefaultLimits())
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Compile.Outcome)
	require.Equal(t, "compile: stopped at the wall-clock limit of 30 s", got.Message)
	require.Equal(t, -1, got.ExitCode)
	require.True(t, got.TimedOut)
}

func TestResultOfARunKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	run := reported("run", wire.StepReport{StdoutTotal: 1_000_000, Duration: 5}, "head")
	run.tails[0] = []byte("tail")
	got := resultOf(report{
		start: &wire.Start{Kernel: sandbox.KernelView{PIDs: 64}}, end: &wire.End{Refused: []sandbox.RefusedFile{{Path: "x", Reason: "is a link"}}},
		steps: []stepOutput{reported("compile", wire.StepReport{}), run, {}},
	}, sandbox.DefaultLimits())
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.True(t, got.OK)
	require.Equal(t, sandbox.Stream{Data: []byte("headtail"), Total: 1_000_000, Truncated: true, CutAt: 4}, got.Stdout)
	require.Equal(t, sandbox.OutcomeOK, got.Compile.Outcome)
	require.Equal(t, 64, got.Enforcement.PIDs)
	require.Equal(t, []sandbox.RefusedFile{{Path: "x", Reason: "is a link"}}, got.RefusedFiles)
	require.True(t, got.Collected)
	require.EqualValues(t, 5, got.Duration)
}

func TestResultOfACancelBetweenSteps(t *testing.T) {
	t.Parallel()
	got := resultOf(report{
		start: &wire.Start{}, end: &wire.End{}, steps: []stepOutput{reported("compile", wire.StepReport{}), {name: "run"}},
	}, sandbox.DefaultLimits())
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.False(t, got.OK)
}

func TestBrokenResultKeepsWhatCame(t *testing.T) {
	t.Parallel()
	oom := verdict{sandbox.OutcomeOutOfMemory, 137, "SIGKILL", false, "too much"}
	run := stepOutput{name: "run"}
	run.heads[0] = []byte("partial")
	got := brokenResult(report{start: &wire.Start{}, steps: []stepOutput{run}}, sandbox.DefaultLimits(), oom)
	require.Equal(t, sandbox.OutcomeOutOfMemory, got.Outcome)
	require.Equal(t, "partial", string(got.Stdout.Data))
	require.Equal(t, 137, got.ExitCode)

	got = brokenResult(report{start: &wire.Start{}, steps: []stepOutput{{name: "compile"}}}, sandbox.DefaultLimits(), oom)
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
	require.Equal(t, sandbox.OutcomeOutOfMemory, got.Compile.Outcome)
}
