package scale_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// Four workers of four slots, and more jobs than they can run at any time.
func TestWorkersComeAndGoUnderLoad(t *testing.T) {
	t.Parallel()
	const slots, producers, sleep = 4, 48, 150 * time.Millisecond
	in := newInstallation(t, testenv.RedisServer(t))
	workers := []*process{in.start(slots)}
	load := in.keepBusy(producers, sleep)
	workers[0].waitForWork(2 * slots)

	for range 3 {
		workers = append(workers, in.start(slots))
	}
	began := time.Now()
	for _, worker := range workers[1:] {
		worker.waitForWork(1)
		t.Logf("a new worker began its first job %s after its process was started", time.Since(began).Round(time.Millisecond))
		require.Less(t, time.Since(began), testenv.Scale(t, 20*time.Second), "from the start of the process to its first job")
	}

	requireEvenLoad(t, workers, load)

	require.Equal(t, 0, workers[1].signal(syscall.SIGTERM), workers[1].log.String())
	require.Equal(t, -1, workers[2].signal(syscall.SIGKILL))
	load.waitFor(producers) // so some of the killed worker's have ended, too
	require.Equal(t, 0, workers[3].signal(syscall.SIGTERM), workers[3].log.String())

	records := load.end()
	require.Empty(t, load.errs)
	again := requireOneResultEach(t, records)
	require.LessOrEqual(t, again, slots, "only the jobs of the killed worker are begun again")
	require.EqualValues(t, len(records), load.finished.Load())
	in.requireNothingWaits(1)
	t.Logf("%d jobs, each with one result; %d of a killed worker were begun again", len(records), again)
}

// requireEvenLoad lets the workers run 400 jobs and compares how many each began. Since no slot is ever empty for longer
// than a round trip, a worker begins as many jobs as its slots end, and all jobs take the same time: the shares are equal but
// for the jobs under way at both ends, 4 of 100. The bound of 25 % leaves the rest to a machine that has other things to do: with 25 processes
// waiting for two processors, the shares differed by 13 %.
func requireEvenLoad(t *testing.T, workers []*process, load *load) {
	t.Helper()
	const jobs = 400
	before := make([]int64, len(workers))
	for i, worker := range workers {
		before[i] = worker.counts().Started
	}
	load.waitFor(jobs)
	var sum float64
	shares := make([]float64, len(workers))
	for i, worker := range workers {
		shares[i] = float64(worker.counts().Started - before[i])
		sum += shares[i]
	}
	require.GreaterOrEqual(t, sum, float64(jobs)*9/10)
	mean := sum / float64(len(workers))
	for i, share := range shares {
		require.InDelta(t, mean, share, mean/4, "worker %d of %v", i, shares)
	}
	t.Logf("of %.0f jobs the workers began %v", sum, shares)
}
