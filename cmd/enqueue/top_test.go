package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/top"
)

func TestTopPrintsTheFiguresOnceWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for range 2 {
		require.Equal(t, 0, b.enqueue(t, "submit", "--tenant", "alice", b.file(t, "a.py", "1")).code)
	}
	got := b.enqueue(t, "top")
	require.Equal(t, 0, got.code, got.stderr)
	require.Empty(t, got.stderr)
	require.NotContains(t, got.stdout, "\x1b")
	require.Regexp(t, `(?m)^default +2 +0 +0 +0 +\S+ +0\.0$`, got.stdout)
	require.Regexp(t, `(?m)^alice +default +2 `, got.stdout)
	require.Contains(t, got.stdout, "no worker is running")

	snapshot := decode[top.Snapshot](t, b.enqueue(t, "top", "--json").stdout)
	require.Len(t, snapshot.Queues, 3)
	require.EqualValues(t, 2, snapshot.Queues[1].Pending)
	require.Equal(t, "alice", snapshot.Queues[1].PerTenant[0].Tenant)
	require.NotNil(t, snapshot.Queues[1].TakenPerSecond)
	require.NotNil(t, snapshot.Workers)

	stats := b.enqueue(t, "stats").stdout
	require.Regexp(t, `(?m)^QUEUE.*TENANTS +OLDEST$`, stats)
	require.Regexp(t, `(?m)^default +2 +0 +0 +0 +1 +\d+m?\d*s$`, stats)
	require.Regexp(t, `(?m)^batch +0 +0 +0 +0 +0 +-$`, stats)
}

func TestTopShowsWorkersAndWhatTheyDid(t *testing.T) {
	t.Parallel()
	b := setup(t, gives(okay("")))
	require.Equal(t, 0, b.enqueue(t, "run", b.file(t, "a.py", "1")).code)
	require.Eventually(t, func() bool {
		var snapshot top.Snapshot
		err := json.Unmarshal([]byte(b.enqueue(t, "top", "--json").stdout), &snapshot)
		return err == nil && len(snapshot.Workers) == 1 && snapshot.Workers[0].Finished == 1 && snapshot.Workers[0].Slots() == 4 &&
			snapshot.Queues[0].Taken+snapshot.Queues[1].Taken == 1
	}, patience, pollEvery)
}

func TestTopRefusesAnOrderAndSaysThatRedisIsAway(t *testing.T) {
	t.Parallel()
	b := &bench{redis: "127.0.0.1:1"} // where nobody listens
	got := b.enqueue(t, "top", "--sort", "age")
	require.Equal(t, exitUsage, got.code)
	require.Equal(t, "enqueue: --sort: \"age\" is unknown: want load, name or rate\n", got.stderr)
	for _, flag := range []string{"--once", "--json"} {
		got = b.enqueue(t, "top", flag)
		require.Equal(t, exitFailure, got.code)
		require.True(t, strings.HasPrefix(got.stderr, "enqueue: connect to Redis: "), got.stderr)
		require.Empty(t, got.stdout)
	}
}
