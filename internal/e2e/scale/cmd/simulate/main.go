// Command simulate measures queue and workers with programs that only sleep, so that what is left is the cost of sandloop
// itself: how fast jobs are accepted and started, what of Redis' memory a job takes, and what is at its end first. It starts
// a redis-server of its own for each measurement, on the loopback interface, and writes tables in CSV.
//
// Its one invariant: every figure is counted over a time in which all processes had been working for a while.
//
// It is for people who measure, not for installations; docs/scaling.md holds what it found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
)

func main() {
	if scale.IsChild(os.Args) {
		os.Exit(scale.RunChild(os.Args))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	s := &simulation{stderr: stderr}
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.out, "out", "docs/data", "the `FOLDER` for the tables")
	flags.IntVar(&s.jobs, "jobs", 1_000_000, "how many jobs wait in the queue")
	flags.DurationVar(&s.window, "window", 5*time.Second, "how long each rate is counted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	steps := flags.Args()
	if len(steps) == 0 {
		steps = []string{"enqueue", "queue", "delay", "share", "idle"}
	}
	if s.jobs < 1000 || s.window < time.Second {
		return fmt.Errorf("jobs and window: %d and %s: want at least 1000 and 1s", s.jobs, s.window)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil { //nolint:gosec // for everybody to read
		return err
	}
	for _, step := range steps {
		measure, known := map[string]func(context.Context) ([]*table, error){
			"enqueue": s.enqueue, "queue": s.queue, "delay": s.delay, "share": s.share, "idle": s.idle,
		}[step]
		if !known {
			return fmt.Errorf("%q is no measurement: want enqueue, queue, delay, share or idle", step)
		}
		tables, err := measure(ctx)
		for _, table := range tables {
			err = errors.Join(err, table.write(filepath.Join(s.out, table.name+".csv"), stdout))
		}
		if err != nil {
			return fmt.Errorf("measure %s: %w", step, err)
		}
	}
	return nil
}

// simulation is what all measurements share.
type simulation struct {
	out    string
	jobs   int
	window time.Duration
	stderr io.Writer
}
