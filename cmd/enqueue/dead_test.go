package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// pollEvery is how often a test looks whether something has happened.
const pollEvery = 20 * time.Millisecond

// setupDead makes a bench whose worker gives up every job after its first failure, and fails while broken is set.
func setupDead(t *testing.T) (b *bench, broken *atomic.Bool) {
	t.Helper()
	broken = &atomic.Bool{}
	broken.Store(true)
	b = setupWithoutWorker(t)
	b.runner = &fakeRunner{run: func(context.Context, sandbox.Program) (sandbox.Result, error) {
		if broken.Load() {
			return sandbox.Result{}, errors.New("no Docker\x1b[2J daemon")
		}
		return okay("at last\n"), nil
	}}
	b.serve(t, jobs.WorkerOptions{ID: "w-1", Runner: b.runner, MaxAttempts: 1})
	return b, broken
}

// die submits a program, waits until it is a dead letter and returns its id.
func (b *bench) die(t *testing.T, flags ...string) string {
	t.Helper()
	submitted := b.enqueue(t, append([]string{"submit", b.file(t, "dead.py", "print('secret')\n")}, flags...)...)
	require.Equal(t, 0, submitted.code, submitted.stderr)
	id := strings.TrimSpace(submitted.stdout)
	require.Equal(t, exitFailure, b.enqueue(t, "wait", id).code)
	require.Eventually(t, func() bool { return strings.Contains(b.enqueue(t, "dead", "list").stdout, id) }, patience, pollEvery)
	return id
}

func TestDeadLettersAreListedShownAndRunAgain(t *testing.T) {
	t.Parallel()
	b, broken := setupDead(t)
	none := b.enqueue(t, "dead", "list")
	require.Equal(t, ran{"", "enqueue: there are no dead letters\n", 0}, none)
	id := b.die(t, "--tenant", "alice", "--queue", "batch")
	other := b.die(t)

	list := b.enqueue(t, "dead", "list", "--queue", "batch")
	require.Equal(t, 0, list.code, list.stderr)
	rows := strings.Split(strings.TrimSpace(list.stdout), "\n")
	require.Len(t, rows, 2)
	require.Equal(t, []string{"JOB", "TENANT", "QUEUE", "LANGUAGE", "GIVEN", "UP", "ATTEMPTS", "LAST", "ERROR"}, strings.Fields(rows[0]))
	cells := strings.Fields(rows[1])
	require.Equal(t, []string{id, "alice", "batch", "python"}, cells[:4])
	require.Equal(t, []string{"1", "no", "Docker^[[2J", "daemon"}, cells[5:])
	require.Equal(t, 1, strings.Count(b.enqueue(t, "dead", "list", "--tenant", "").stdout, other))
	require.Empty(t, b.enqueue(t, "dead", "list", "--tenant", "bob").stdout)
	latest := b.enqueue(t, "dead", "list", "--limit", "1")
	require.Contains(t, latest.stdout, other)
	require.NotContains(t, latest.stdout, id)
	require.Contains(t, latest.stderr, "--limit 0 lists all")
	asJSON := b.enqueue(t, "dead", "list", "--json", "--limit", "0")
	require.Empty(t, asJSON.stderr)
	require.Equal(t, []string{other, id}, []string{
		decode[jobs.DeadLetter](t, strings.Split(asJSON.stdout, "\n")[0]).ID, decode[jobs.DeadLetter](t, strings.Split(asJSON.stdout, "\n")[1]).ID,
	})

	shown := b.enqueue(t, "dead", "show", id)
	require.Equal(t, 0, shown.code, shown.stderr)
	for _, want := range []string{"alice", "batch", "python", "1 file, 16 bytes", "no Docker^[[2J daemon", "w-1", "ATTEMPT"} {
		require.Contains(t, shown.stdout, want)
	}
	require.NotContains(t, shown.stdout, "secret")
	require.Contains(t, b.enqueue(t, "dead", "show", id, "--source").stdout, "==> dead.py <==\nprint('secret')\n")
	object := b.enqueue(t, "dead", "show", id, "--json").stdout
	require.NotContains(t, object, "source")
	var program struct{ Program deadProgram }
	require.NoError(t, json.Unmarshal([]byte(object), &program))
	require.Equal(t, deadProgram{Bytes: 16, Files: 1}, program.Program)

	broken.Store(false)
	retried := b.enqueue(t, "dead", "retry", id)
	require.Equal(t, ran{"", "enqueue: 1 dead letter run again\n", 0}, retried)
	require.Equal(t, 0, b.enqueue(t, "wait", id).code)
	result := b.enqueue(t, "result", id)
	require.Equal(t, ran{"at last\n", "", 0}, result)
	record := decode[jobs.Record](t, b.enqueue(t, "result", "--json", id).stdout)
	require.Len(t, record.Attempts, 2)
	require.Len(t, record.RetriedAt, 1)
	require.Contains(t, b.enqueue(t, "status", id).stdout, "retried")

	refused := b.enqueue(t, "dead", "retry", id, other)
	require.Equal(t, exitUsage, refused.code)
	require.Equal(t, "enqueue: 1 dead letter run again\nenqueue: retry job "+id+" ended with ok: it is no dead letter\n", refused.stderr)
	require.Equal(t, 0, b.enqueue(t, "wait", other).code)
}

func TestAllDeadLettersAreRunAgainOrDeleted(t *testing.T) {
	t.Parallel()
	b, broken := setupDead(t)
	mine, others, batch := b.die(t, "--tenant", "alice"), b.die(t, "--tenant", "bob"), b.die(t, "--tenant", "alice", "--queue", "batch")
	deleted := b.enqueue(t, "dead", "delete", "--all", "--tenant", "bob")
	require.Equal(t, ran{"", "enqueue: 1 dead letter deleted\n", 0}, deleted)
	require.Equal(t, exitFailure, b.enqueue(t, "status", others).code)
	broken.Store(false)
	require.Equal(t, ran{"", "enqueue: 1 dead letter run again\n", 0}, b.enqueue(t, "dead", "retry", "--all", "--queue", "batch"))
	require.Equal(t, 0, b.enqueue(t, "wait", batch).code)
	require.Equal(t, ran{"", "enqueue: 1 dead letter run again\n", 0}, b.enqueue(t, "dead", "retry", "--all"))
	require.Equal(t, 0, b.enqueue(t, "wait", mine).code)
	require.Equal(t, ran{"", "enqueue: 0 dead letters run again\n", 0}, b.enqueue(t, "dead", "retry", "--all"))
	gone := b.enqueue(t, "dead", "delete", others)
	require.Equal(t, exitFailure, gone.code)
	require.Contains(t, gone.stderr, "no such job")
}

func TestDeadRefusesWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":              {[]string{"retry"}, "want the ids of dead letters, as enqueue dead list prints them, or --all"},
		"both":                 {[]string{"delete", "x", "--all"}, "--all beside ids"},
		"a filter beside ids":  {[]string{"retry", "x", "--queue", "batch"}, "--queue and --tenant choose among --all"},
		"a queue":              {[]string{"list", "--queue", "slow"}, `--queue: "slow" is unknown`},
		"a limit":              {[]string{"list", "--limit", "-1"}, "--limit: -1: want at least 0"},
		"two to look at":       {[]string{"show", "x", "y"}, "want the id of one job"},
		"a queue of all":       {[]string{"retry", "--all", "--queue", "slow"}, `--queue: "slow" is unknown`},
		"an unknown command":   {[]string{"revive"}, `unknown command "revive"`},
		"arguments of listing": {[]string{"list", "x"}, `unknown command "x"`},
	} {
		got := b.enqueue(t, append([]string{"dead"}, c.args...)...)
		require.Equal(t, exitUsage, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, c.want, name)
	}
}

func TestShellsCompleteWhatIsDead(t *testing.T) {
	t.Parallel()
	b, _ := setupDead(t)
	id := b.die(t)
	for _, command := range []string{"show", "retry", "delete"} {
		require.Contains(t, b.enqueue(t, "__complete", "dead", command, "").stdout, id+"\tno Docker^[[2J daemon\n")
	}
	require.Contains(t, b.enqueue(t, "__complete", "dead", "list", "--queue", "").stdout, "interactive\ndefault\nbatch\n")
	require.Contains(t, b.enqueue(t, "__complete", "top", "--sort", "").stdout, "load\nname\nrate\n")
	require.Contains(t, b.enqueue(t, "__complete", "batch", "c").stdout, "cancel\t")
	b.redis = "127.0.0.1:1" // where nobody listens
	require.NotContains(t, b.enqueue(t, "__complete", "dead", "show", "").stdout, id)
}
