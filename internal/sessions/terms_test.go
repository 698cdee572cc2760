package sessions

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func ptr[T any](v T) *T { return &v }

func TestALaterCallCannotChangeWhatTheInterpreterHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limits := func(o sandbox.Overrides) func(*jobs.SessionJob) {
		return func(j *jobs.SessionJob) { j.Session.Live, j.Program.Limits = true, o }
	}
	env := func(value string) func(*jobs.SessionJob) {
		return func(j *jobs.SessionJob) { j.Session.Live, j.Program.Env = true, map[string]string{"A": value} }
	}
	b.must(job("1", limits(sandbox.Overrides{Memory: ptr(int64(64 << 20))}), env("1")))
	require.EqualValues(t, 64<<20, *b.interpreters[0].program.Limits.Memory)
	require.Equal(t, map[string]string{"A": "1"}, b.interpreters[0].program.Env)

	for name, change := range map[string]func(*jobs.SessionJob){
		"nothing asked": inSession, "the same memory": limits(sandbox.Overrides{Memory: ptr(int64(64 << 20))}),
		"the same, by default": limits(sandbox.Overrides{PIDs: ptr(64)}), "the same environment": env("1"),
		"what is a call's own": limits(sandbox.Overrides{WallTime: ptr(sandbox.Seconds(time.Second)), Output: ptr(int64(100))}),
	} {
		result, report := b.must(job(name, change))
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, "%s: %s", name, result.Message)
		require.False(t, report.Live.Started)
	}
	last := b.interpreters[0].cells[len(b.interpreters[0].cells)-1]
	require.LessOrEqual(t, last.WallTime, 30*time.Second)

	calls := len(b.interpreters[0].cells)
	i := 0
	for want, change := range map[string]func(*jobs.SessionJob){
		"limits.memory_bytes: 134217728 is asked for, and the live interpreter of the session was started with 67108864": limits(sandbox.Overrides{Memory: ptr(int64(128 << 20))}),
		"limits.cpus: 2 is asked for, and the live interpreter of the session was started with 0.5":                      limits(sandbox.Overrides{CPUs: ptr(2.0)}),
		"limits.pids":            limits(sandbox.Overrides{PIDs: ptr(7)}),
		"limits.tmp_bytes":       limits(sandbox.Overrides{Tmp: ptr(int64(1 << 20))}),
		"limits.workspace_bytes": limits(sandbox.Overrides{Workspace: ptr(int64(1 << 20))}),
		"limits.open_files":      limits(sandbox.Overrides{OpenFiles: ptr(int64(100))}),
		"env":                    env("2"),
		"network":                func(j *jobs.SessionJob) { j.Session.Live, j.Program.Network = true, true },
	} {
		i++
		result, report := b.must(job(fmt.Sprint("refused ", i), change))
		require.Equal(t, sandbox.OutcomeRejected, result.Outcome, want)
		require.Contains(t, result.Message, want)
		require.Contains(t, result.Message, "session.restart")
		require.Nil(t, report.Live)
	}
	require.Len(t, b.interpreters[0].cells, calls, "none of them ran")
	require.Len(t, b.interpreters, 1)
	result, _ := b.must(job("again", restart, func(j *jobs.SessionJob) { j.Program.Limits.PIDs = ptr(7) }))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome)
	require.Equal(t, 7, *b.interpreters[1].program.Limits.PIDs)
}

func TestALimitBelowTheFloorOfTheLanguageIsTheFloor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	low := func(j *jobs.SessionJob) {
		j.Session.Live, j.Program.Language, j.Program.Limits.PIDs = true, "node", ptr(3)
	}
	b.must(job("1", low))
	result, _ := b.must(job("2", low))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
}

func TestWhatNoLiveCallCanHave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for want, change := range map[string]func(*jobs.SessionJob){
		"args: is set: want none in a live session, put them into the source": func(j *jobs.SessionJob) { j.Program.Args = []string{"a"} },
		"limits.cpu_seconds":       func(j *jobs.SessionJob) { j.Program.Limits.CPUTime = ptr(sandbox.Seconds(time.Second)) },
		"limits.compile_seconds":   func(j *jobs.SessionJob) { j.Program.Limits.CompileTime = ptr(sandbox.Seconds(time.Second)) },
		"limits.output_kill_bytes": func(j *jobs.SessionJob) { j.Program.Limits.OutputKill = ptr(int64(100)) },
		`main: no file of the job is named "main.py", and there is no source`: func(j *jobs.SessionJob) {
			j.Program.Source, j.Program.Files = nil, list(map[string]string{"lib.py": "x"})
		},
	} {
		result, report := b.must(job("1", inSession, change))
		require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
		require.Contains(t, result.Message, want)
		require.Nil(t, report)
	}
}

func TestAWorkerWithoutInterpretersLooksForAnotherThatHasTheSessions(t *testing.T) {
	t.Parallel()
	none := setup(t, func(o *Options) { o.Live = 0 })
	there := setupOn(t, none.rdb, "there")
	none.alive["there"] = true
	result, _ := none.must(job("1", inSession))
	require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
	require.Contains(t, result.Message, "sessions.live")
	require.Empty(t, none.interpreters)

	there.must(job("2", inSession))
	_, _, err := none.Run(t.Context(), job("3", inSession))
	var elsewhere *jobs.ElsewhereError
	require.ErrorAs(t, err, &elsewhere)
	require.Equal(t, "there", elsewhere.Worker)
	none.alive["there"] = false
	result, _ = none.must(job("3", inSession))
	require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
}

func TestAFileOfTheJobCanBeTheSource(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession, func(j *jobs.SessionJob) {
		j.Program.Source, j.Program.Main, j.Program.Files = nil, "run.py", list(map[string]string{"run.py": "r", "lib.py": "l"})
	}))
	cell := b.interpreters[0].cells[0]
	require.Equal(t, "r", cell.Source)
	require.Equal(t, "run.py", cell.Name)
	require.Equal(t, map[string]string{"run.py": "r", "lib.py": "l"}, b.files())
}
