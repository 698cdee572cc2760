package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

func TestQuotaIsSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	quiet := func(args ...string) {
		t.Helper()
		require.Equal(t, ran{}, b.enqueue(t, append([]string{"quota"}, args...)...))
	}
	list := func() quotaList {
		t.Helper()
		got := b.enqueue(t, "quota", "list", "--json")
		require.Equal(t, 0, got.code, got.stderr)
		return decode[quotaList](t, got.stdout)
	}
	require.Empty(t, list().Tenants)
	quiet("set", "course", "--weight", "3", "--concurrency", "8", "--rate", "2.5", "--burst", "20", "--max-queued", "100", "--max-bytes", "64MiB")
	quiet("set", "*", "--max-queued", "10")
	quiet("set", "", "--concurrency", "1")
	want := jobs.Quota{Weight: 3, Concurrency: 8, Rate: 2.5, Burst: 20, MaxQueued: 100, MaxQueuedBytes: 64 << 20}
	require.Equal(t, []jobs.TenantQuota{
		{Tenant: "", Quota: jobs.Quota{Concurrency: 1}}, {Tenant: "*", Quota: jobs.Quota{MaxQueued: 10}}, {Tenant: "course", Quota: want},
	}, list().Tenants)
	quiet("set", "course", "--weight", "5", "--rate", "0", "--max-bytes", "0")
	quiet("remove", "")
	quiet("depth", "batch", "--max-queued", "500")
	quiet("depth", "batch", "--max-bytes", "1GiB")
	quiet("depth", "default", "--max-queued", "0")
	require.Equal(t, quotaList{
		Tenants: []jobs.TenantQuota{
			{Tenant: "*", Quota: jobs.Quota{MaxQueued: 10}}, {Tenant: "course", Quota: jobs.Quota{Weight: 5, Concurrency: 8, MaxQueued: 100}},
		},
		Queues: []jobs.QueueDepth{
			{Queue: jobs.Interactive, Depth: jobs.Depth{MaxQueued: 1_000_000}},
			{Queue: jobs.Default},
			{Queue: jobs.Batch, Depth: jobs.Depth{MaxQueued: 500, MaxQueuedBytes: 1 << 30}},
		},
	}, list())

	got := b.enqueue(t, "quota", "list")
	require.Equal(t, 0, got.code, got.stderr)
	var rows [][]string
	for line := range strings.Lines(got.stdout) {
		rows = append(rows, strings.Fields(line))
	}
	require.Equal(t, [][]string{
		{"TENANT", "WEIGHT", "CONCURRENCY", "RATE", "BURST", "MAX", "QUEUED", "MAX", "BYTES"},
		{"*", "1", "-", "-", "-", "10", "-"},
		{"course", "5", "8", "-", "-", "100", "-"},
		{},
		{"QUEUE", "MAX", "QUEUED", "MAX", "BYTES"},
		{"interactive", "1000000", "-"},
		{"default", "-", "-"},
		{"batch", "500", "1GiB"},
	}, rows)
}

func TestQuotaCommandsThatAreWrong(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no tenant":           {[]string{"set", "--weight", "1"}, "want the name of one tenant"},
		"two tenants":         {[]string{"remove", "a", "b"}, "want the name of one tenant"},
		"nothing to set":      {[]string{"set", "a"}, "want one of the flags"},
		"a negative weight":   {[]string{"set", "a", "--weight", "-1"}, "weight: -1: want 0 to 1000"},
		"an infinite rate":    {[]string{"set", "a", "--rate", "Inf"}, "rate: +Inf"},
		"a burst for no rate": {[]string{"set", "a", "--burst", "3"}, "burst: 3: want none without a rate"},
		"a bad size":          {[]string{"set", "a", "--max-bytes", "much"}, "is not a size"},
		"an unknown queue":    {[]string{"depth", "urgent", "--max-queued", "1"}, `"urgent" is unknown`},
		"no queue":            {[]string{"depth"}, "want the name of one queue"},
		"no depth":            {[]string{"depth", "batch"}, "want --max-queued or --max-bytes"},
		"a negative depth":    {[]string{"depth", "batch", "--max-queued", "-5"}, "max_queued: -5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.enqueue(t, append([]string{"quota"}, c.args...)...)
			require.Equal(t, exitUsage, got.code, got.stderr)
			require.Contains(t, got.stderr, c.want)
			require.Empty(t, got.stdout)
		})
	}
}

func TestAFullQueueHasAnExitCodeOfItsOwn(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	require.Equal(t, ran{}, b.enqueue(t, "quota", "set", "*", "--max-queued", "2"))
	py := b.file(t, "a.py", "x")
	got := b.enqueue(t, "submit", "--json", py, py, py)
	require.Equal(t, 75, got.code)
	require.Contains(t, got.stderr, "enqueue: submit: 1 of 3 jobs were not accepted")
	require.Contains(t, got.stderr, "queue default is full: jobs without a tenant have 2 jobs waiting: want at most 2 (max_queued): try again in ")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 3)
	refused := 0
	for _, line := range lines {
		printed := decode[struct{ ID, Error string }](t, line)
		require.NotEqual(t, printed.ID == "", printed.Error == "", line)
		if printed.Error != "" {
			refused++
		}
	}
	require.Equal(t, 1, refused)
	got = b.enqueue(t, "submit", py)
	require.Equal(t, 75, got.code)
	require.Empty(t, got.stdout)
	require.Equal(t, ran{}, b.enqueue(t, "quota", "set", "*", "--max-queued", "0"))
	require.Equal(t, ran{}, b.enqueue(t, "quota", "depth", "interactive", "--max-bytes", "1"))
	got = b.enqueue(t, "run", py)
	require.Equal(t, exitUsage, got.code, "trying again is of no use")
	require.Contains(t, got.stderr, "it will never fit")
}
