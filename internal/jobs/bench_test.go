package jobs

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// BenchmarkSubmitMany reports how many jobs a second one caller can hand in.
func BenchmarkSubmitMany(b *testing.B) {
	bundle := setup(b)
	jobs := make([]Job, 10_000)
	for i := range jobs {
		jobs[i] = job(fmt.Sprintf("print(%d)", i))
	}
	for b.Loop() {
		_, err := bundle.client.SubmitMany(bundle.ctx, jobs)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, bundle.rdb.FlushAll(bundle.ctx).Err())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkQueueOverhead reports the time from Submit to the result of a program that takes none.
func BenchmarkQueueOverhead(b *testing.B) {
	bundle := setup(b)
	bundle.start(echoRunner{})
	bundle.await(bundle.submit(job("1")))
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		bundle.await(bundle.submit(job("1")))
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkSessionJob reports the time from Submit to the result of a call that takes none, in the worker that takes
// the job and forwarded to another one.
func BenchmarkSessionJob(b *testing.B) {
	for _, forwarded := range []bool{false, true} {
		b.Run(fmt.Sprintf("forwarded=%t", forwarded), func(b *testing.B) {
			bundle := setup(b)
			if forwarded {
				runner := newFakeRunner()
				bundle.start(runner, in(idleSessions{}), func(o *WorkerOptions) { o.ID, o.Concurrency = "holder", 1 })
				bundle.submit(job("takes the slot"))
				defer receive(b, runner.runs).succeed("")
				bundle.start(echoRunner{}, in(elsewhere("holder")))
			} else {
				bundle.start(echoRunner{}, in(idleSessions{}))
			}
			bundle.await(bundle.submit(sessionJob("1")))
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				bundle.await(bundle.submit(sessionJob("1")))
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// idleSessions do nothing and succeed.
type idleSessions struct{}

func (idleSessions) Run(context.Context, SessionJob) (sandbox.Result, *workspace.Report, error) {
	return okResult(""), &workspace.Report{Live: &workspace.LiveReport{Value: "1"}}, nil
}

// BenchmarkThroughput reports how many jobs a second one worker gets through.
func BenchmarkThroughput(b *testing.B) {
	bundle := setup(b)
	bundle.start(echoRunner{}, func(o *WorkerOptions) { o.Concurrency = 16 })
	jobs := make([]Job, 1000)
	for i := range jobs {
		jobs[i] = job("1")
	}
	for b.Loop() {
		submissions, err := bundle.client.SubmitMany(bundle.ctx, jobs)
		require.NoError(b, err)
		ended := make(chan error, len(jobs))
		for _, submission := range submissions {
			go func() {
				_, err := bundle.client.Await(bundle.ctx, submission.ID)
				ended <- err
			}()
		}
		for range jobs {
			require.NoError(b, <-ended)
		}
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "jobs/s")
}
