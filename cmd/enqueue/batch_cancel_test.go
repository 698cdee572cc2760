package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestABatchIsCanceledFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	b, judge := setupJudge(t) // with 4 slots
	sources := []string{}
	for range 4 {
		sources = append(sources, "wait")
	}
	for i := range 20 {
		sources = append(sources, fmt.Sprintf("AC %d", i))
	}
	input, path := b.file(t, "in.jsonl", batchOf(sources...)), filepath.Join(b.dir, "in.results.jsonl")
	producer := make(chan ran, 1)
	go func() { producer <- b.enqueue(t, "batch", input) }()
	for range 4 {
		<-judge.waiting
	}
	// Some others may have had their turn before; now nobody has a slot.
	accepted := func() int { judge.mu.Lock(); defer judge.mu.Unlock(); return len(judge.judged) - 1 }
	done := accepted()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(path)
		return err == nil && strings.Count(string(content), "\n") == done
	}, patience, pollEvery, "what was judged has its result")

	got := b.enqueue(t, "batch", "cancel", path)
	require.Equal(t, 0, got.code, got.stderr)
	ended := <-producer
	require.Equal(t, exitInterrupted, ended.code, ended.stderr)
	require.Contains(t, ended.stderr, fmt.Sprintf("jobs canceled: %d", 24-done))
	require.Contains(t, ended.stderr, "enqueue: the batch was canceled")
	require.Contains(t, ended.stderr, "the same command goes on from here")
	require.Regexp(t, `batch [0-9a-f]{16}: enqueue batch cancel`, ended.stderr)
	require.Regexp(t, `^canceled \d+ queued and \d running; \d+ had ended\n$`, got.stdout) // the producer cancels, too
	canceled := 0
	for item, err := range results.ReadFile(path) {
		require.NoError(t, err)
		if item.Verdict == grade.IE {
			canceled++
			require.Equal(t, "the batch was canceled before the item was judged", item.Message)
		}
	}
	require.Equal(t, 24-done, canceled)
	require.Equal(t, done, accepted(), "nothing that waited had a turn")
	again := b.enqueue(t, "batch", "cancel", path)
	require.Equal(t, ran{"canceled 0 queued and 0 running; 0 had ended\n", "", 0}, again)

	b.file(t, "in.jsonl", strings.ReplaceAll(batchOf(sources...), `"wait"`, `"AC now"`))
	resumed := b.enqueue(t, "batch", input)
	require.Equal(t, 0, resumed.code, resumed.stderr)
	require.Equal(t, 4, judge.times("AC now"))
	for _, source := range sources[4:] {
		require.Equal(t, 1, judge.times(source), "nothing is judged twice")
	}
	over := b.enqueue(t, "batch", "cancel", path)
	require.Equal(t, ran{"", "enqueue: " + path + ": nothing of the batch is under way\n", 0}, over)
}

// Nobody runs the batch any more, and there is only its name.
func TestABatchIsCanceledByItsName(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	rdb := redis.NewClient(&redis.Options{Addr: b.redis})
	defer func() { require.NoError(t, rdb.Close()) }()
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	const name = "0123456789abcdef"
	ids := []string{}
	for range 3 {
		submission, err := client.Submit(t.Context(), jobs.Job{Queue: jobs.Batch, Program: sandbox.Program{Language: "python", Source: sandbox.Bytes("1")}})
		require.NoError(t, err)
		ids = append(ids, submission.ID)
	}
	require.NoError(t, client.TrackBatch(t.Context(), name, ids, nil))
	got := b.enqueue(t, "batch", "cancel", name, "--json")
	require.Equal(t, ran{`{"batch":"0123456789abcdef","queued":3,"running":0,"done":0,"lasting":0}` + "\n", "", 0}, got)
	require.Equal(t, "canceled 0 queued and 0 running; 3 had ended\n", b.enqueue(t, "batch", "cancel", name).stdout)
}

func TestBatchCancelRefusesWhatIsNoBatch(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for name, args := range map[string][]string{
		"nothing": {}, "two": {"a", "b"}, "no such file": {filepath.Join(b.dir, "x.jsonl")}, "no name": {"0123456789ABCDEF"},
	} {
		got := b.enqueue(t, append([]string{"batch", "cancel"}, args...)...)
		require.Equal(t, exitUsage, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, "results file of", name)
	}
}
