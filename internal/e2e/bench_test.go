package e2e_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// BenchmarkThousandJobs runs 1,000 jobs through one worker process. It reports the worker's resident
// memory after the first and the last hundred, and how many jobs a second go from the queue
// through a container of their own to a result.
func BenchmarkThousandJobs(b *testing.B) {
	const rounds, round = 10, 100
	in := newInstallation(b)
	worker := in.startWorker(b)
	client := jobs.NewClient(in.redis, jobs.ClientOptions{})
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	for b.Loop() {
		var resident []float64
		begun := time.Now()
		for i := range rounds {
			in.runMany(b, client, i*round, round)
			resident = append(resident, residentMiB(b, worker.process.Process.Pid))
		}
		b.ReportMetric(rounds*round/time.Since(begun).Seconds(), "jobs/s")
		b.ReportMetric(resident[0], "resident-after-100-MiB")
		b.ReportMetric(resident[rounds-1], "resident-after-1000-MiB")
		b.ReportMetric(slices.Max(resident), "resident-max-MiB")
	}
}

// runMany runs programs that print their number and checks each result.
func (in *installation) runMany(b *testing.B, client *jobs.Client, first, count int) {
	b.Helper()
	batch := make([]jobs.Job, count)
	for i := range batch {
		batch[i].Program = sandbox.Program{Language: "python", Source: fmt.Appendf(nil, "print(%d)", first+i)}
	}
	submissions, err := client.SubmitMany(b.Context(), batch)
	require.NoError(b, err)
	for i, submission := range submissions {
		record, err := client.Await(b.Context(), submission.ID)
		require.NoError(b, err)
		require.Equal(b, fmt.Sprintln(first+i), string(record.Result.Stdout.Data))
	}
}

func residentMiB(b *testing.B, pid int) float64 {
	b.Helper()
	mib, found := residentMiBOf(pid)
	require.True(b, found)
	return mib
}

// residentMiBOf reads the resident memory of a process. It reports false when it has ended.
func residentMiBOf(pid int) (mib float64, found bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &mib); err != nil {
		return 0, false
	}
	return mib / 1024, found
}
