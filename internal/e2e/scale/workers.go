package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Workers says what one process of workers is.
type Workers struct {
	// Redis is an address as jobs.RedisOptions has it.
	Redis string `json:"redis"`
	// Count is the number of workers, each with connections of its own as if it were alone in its process.
	Count int `json:"count"`
	// Slots is how many jobs each of them runs at once.
	Slots int `json:"slots"`
	// Grace is how long they let jobs finish when they are to stop.
	Grace time.Duration `json:"grace"`
	// Sleep, if not nil, is how long every job takes whatever it says itself.
	Sleep *time.Duration `json:"sleep,omitempty"`
}

// Counts is what a process of workers did since it began.
type Counts struct {
	Workers []WorkerCounts `json:"workers"`
	// CPUSeconds is the CPU time of the process, user and system.
	CPUSeconds float64 `json:"cpu_seconds"`
}

// Started counts the runs of all workers.
func (c Counts) Started() (sum int64) {
	for _, worker := range c.Workers {
		sum += worker.Started
	}
	return sum
}

// WorkerCounts is what one worker did.
type WorkerCounts struct {
	ID string `json:"id"`
	// Started and Ended count runs, Finished results, Dropped those that came second, Recovered the jobs of lost workers.
	Started   int64 `json:"started"`
	Ended     int64 `json:"ended"`
	Finished  int64 `json:"finished"`
	Dropped   int64 `json:"dropped"`
	Recovered int64 `json:"recovered"`
}

// sleeping is a worker with what counts its runs.
type sleeping struct {
	*jobs.Worker
	sleeper *Sleeper
}

// Serve runs workers until ctx ends or stdin is closed. To each line of stdin it answers with Counts, a line of JSON.
func (w Workers) Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := make([]sleeping, w.Count)
	connections := make([]redis.UniversalClient, w.Count)
	for i := range workers {
		var err error
		if connections[i], err = jobs.ConnectRedis(jobs.RedisOptions{Addr: w.Redis}); err != nil {
			return err
		}
		defer func() { _ = connections[i].Close() }()
		sleeper := &Sleeper{Override: w.Sleep}
		worker, err := jobs.NewWorker(jobs.WorkerOptions{Redis: connections[i], Runner: sleeper, Concurrency: w.Slots, Grace: w.Grace, Log: log})
		if err != nil {
			return err
		}
		workers[i] = sleeping{worker, sleeper}
	}
	go answer(workers, stdin, stdout, stop) // it ends with stdin, which is the process's
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, worker := range workers {
		all.Go(func() { errs[i] = worker.Run(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func answer(workers []sleeping, stdin io.Reader, stdout io.Writer, stop func()) {
	defer stop()
	encoder := json.NewEncoder(stdout)
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		counts := Counts{CPUSeconds: cpuSeconds()}
		for _, worker := range workers {
			c := worker.Counters()
			counts.Workers = append(counts.Workers, WorkerCounts{
				ID: worker.ID(), Started: worker.sleeper.Started.Load(), Ended: worker.sleeper.Ended.Load(),
				Finished: c.Finished.Load(), Dropped: c.Dropped.Load(), Recovered: c.Recovered.Load(),
			})
		}
		if encoder.Encode(counts) != nil {
			return // whoever asked is gone
		}
	}
}

// cpuSeconds is the CPU time that this process has had.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // it cannot fail for oneself
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
