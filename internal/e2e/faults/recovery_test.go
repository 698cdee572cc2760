//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// recoveryLimit is what is promised: from the SIGKILL of a worker to the next start of its job.
const recoveryLimit = 10 * time.Second

// TestAKilledWorkersJobStartsElsewhereWithinTenSeconds kills workers at all times between two heartbeats, five at once, and
// measures when another worker starts their jobs.
func TestAKilledWorkersJobStartsElsewhereWithinTenSeconds(t *testing.T) {
	lab := faults.NewLab(t, faults.StartDaemon(t))
	rounds := 4
	if short {
		rounds = 1
	}
	var times []time.Duration
	for round := range rounds {
		times = append(times, recoverFive(t, lab, round)...)
	}
	require.NoError(t, lab.StopWorkers())
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, time.Minute))
	defer cancel()
	require.NoError(t, lab.AwaitClean(ctx))
	require.NoError(t, lab.RemoveVolumes())
	p50, most := quantiles(times)
	publish(t, fmt.Sprintf("SIGKILL of a worker to the next start of its job: p50 %s, max %s over %d kills (wanted: under %s)\n", p50, most, len(times), recoveryLimit))
	for _, took := range times {
		require.Less(t, took, testenv.Scale(t, recoveryLimit))
	}
}

// recoverFive has five workers with one job each killed, 170 ms apart, and returns how long each job took to start elsewhere.
func recoverFive(t *testing.T, lab *faults.Lab, round int) []time.Duration {
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, 3*time.Minute))
	defer cancel()
	env := []string{"SANDLOOP_WORKER_INTERACTIVE_SLOTS=0", "SANDLOOP_SESSIONS_LIVE=0", "SANDLOOP_SANDBOX_POOL_SIZE=0", "SANDLOOP_REAPER_PERIOD=1h"}
	victims := map[string]*faults.Worker{}
	for range 5 {
		w := lab.StartWorker(t, append(env, "SANDLOOP_WORKER_CONCURRENCY=1")...)
		id, err := lab.AwaitWorker(ctx, w)
		require.NoError(t, err)
		victims[id] = w
	}
	batch := make([]jobs.Job, len(victims))
	for i := range batch {
		batch[i] = jobs.Job{ID: fmt.Sprintf("recovery-%d-%d", round, i), Program: sandbox.Program{
			Language: "bash", Source: sandbox.Bytes("read -r run </proc/sys/kernel/random/uuid; echo $run; sleep 15; echo $run"),
		}}
	}
	_, err := lab.Client.SubmitMany(ctx, batch)
	require.NoError(t, err)
	owners := map[string]string{}
	require.Eventually(t, func() bool {
		for _, job := range batch {
			if status, err := lab.Jobs.Status(ctx, job.ID); err == nil && status.State == jobs.Running {
				owners[job.ID] = status.Worker
			}
		}
		return len(owners) == len(batch)
	}, testenv.Scale(t, time.Minute), 20*time.Millisecond, "all jobs run")
	_, err = lab.AwaitWorker(ctx, lab.StartWorker(t, append(env, "SANDLOOP_WORKER_CONCURRENCY=5")...))
	require.NoError(t, err)
	killed := map[string]time.Time{}
	for _, job := range batch {
		killed[job.ID] = time.Now()
		require.NoError(t, victims[owners[job.ID]].End(syscall.SIGKILL))
		<-time.After(170 * time.Millisecond)
	}
	times := make([]time.Duration, 0, len(batch))
	for _, job := range batch {
		record, err := lab.Jobs.Await(ctx, job.ID)
		require.NoError(t, err)
		lines := strings.Fields(string(record.Result.Stdout.Data))
		require.Len(t, lines, 2)
		require.Equal(t, lines[0], lines[1])
		require.Len(t, record.Attempts, 2, "%+v", record.Attempts)
		times = append(times, record.Attempts[1].Started.Sub(killed[job.ID]))
	}
	for _, w := range lab.Workers() { // the one that survived makes room for the next five
		if !w.HasEnded() {
			require.NoError(t, w.End(syscall.SIGTERM))
		}
	}
	return times
}
