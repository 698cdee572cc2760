package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/scale"
)

// fleetProcesses is among how many processes workers are shared out.
const fleetProcesses = 4

// fleet is a number of workers in up to four processes.
type fleet struct{ processes []*scale.Process }

func startFleet(addr string, workers, slots int, sleep *time.Duration, stderr io.Writer) (*fleet, error) {
	f := &fleet{}
	processes := min(workers, fleetProcesses)
	for i := range processes {
		count := workers*(i+1)/processes - workers*i/processes
		p, err := scale.StartWorkers(scale.Workers{Redis: addr, Count: count, Slots: slots, Grace: 20 * time.Second, Sleep: sleep}, stderr)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f.processes = append(f.processes, p)
	}
	return f, nil
}

// counts asks all processes at once.
func (f *fleet) counts() (scale.Counts, error) {
	var sum scale.Counts
	for _, p := range f.processes {
		if err := p.Tell(); err != nil {
			return sum, err
		}
	}
	for _, p := range f.processes {
		var counts scale.Counts
		if err := p.Hear(&counts); err != nil {
			return sum, err
		}
		sum.Workers = append(sum.Workers, counts.Workers...)
		sum.CPUSeconds += counts.CPUSeconds
	}
	return sum, nil
}

// waitFor waits until so many jobs have begun.
func (f *fleet) waitFor(ctx context.Context, started int64) error {
	for {
		counts, err := f.counts()
		if err != nil || counts.Started() >= started {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d jobs have begun: %w", counts.Started(), started, err)
		}
	}
}

// stop ends the workers in an orderly way.
func (f *fleet) stop() error {
	var errs []error
	for _, p := range f.processes {
		errs = append(errs, p.Signal(syscall.SIGTERM))
	}
	for _, p := range f.processes {
		select {
		case <-p.Ended():
		case <-time.After(time.Minute):
			errs = append(errs, errors.New("workers did not end within a minute"))
		}
		p.Kill()
		if code := p.ExitCode(); code != 0 {
			errs = append(errs, fmt.Errorf("workers ended with %d", code))
		}
	}
	return errors.Join(errs...)
}

// pause waits unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rate is what happened in a time.
type rate struct {
	seconds float64
	started float64
	// redis, workers and machine are CPU time in each second, in processors.
	redis, workers, machine float64
	commands, scripts       float64 // a second
	bytes                   float64 // a second
	// least and most are what workers began, as a share of their mean.
	least, most float64
}

// watch counts what fleet and server do in a time.
func watch(ctx context.Context, f *fleet, s *server, window time.Duration) (rate, error) {
	before, err := f.counts()
	if err != nil {
		return rate{}, err
	}
	first, err := s.read(ctx)
	if err != nil {
		return rate{}, err
	}
	if err := pause(ctx, window); err != nil {
		return rate{}, err
	}
	after, err := f.counts()
	if err != nil {
		return rate{}, err
	}
	last, err := s.read(ctx)
	if err != nil {
		return rate{}, err
	}
	seconds := last.at.Sub(first.at).Seconds()
	started := make([]float64, len(after.Workers))
	for i, worker := range after.Workers {
		started[i] = float64(worker.Started - before.Workers[i].Started)
	}
	r := rate{
		seconds: seconds, started: float64(after.Started() - before.Started()),
		redis: (last.cpu - first.cpu) / seconds, workers: (after.CPUSeconds - before.CPUSeconds) / seconds,
		machine:  (last.machine - first.machine) / seconds,
		commands: (last.commands - first.commands) / seconds, scripts: (last.scripts - first.scripts) / seconds,
		bytes: (last.bytes - first.bytes) / seconds,
	}
	if r.started > 0 {
		mean := r.started / float64(len(started))
		r.least, r.most = slices.Min(started)/mean, slices.Max(started)/mean
	}
	return r, nil
}
