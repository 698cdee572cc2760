//go:build soak

package soak_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/e2e/soak"
	"github.com/sandloop/sandloop/internal/jobs"
)

const (
	// maxAttempts lets a job outlive half a minute without Docker: 1, 2, 4, 8 and 16 s are waited in between.
	maxAttempts = 8
	// drainTime is what all that was accepted has to come to an end when nothing is broken any more.
	drainTime = 6 * time.Minute
)

// run is a soak under way.
type run struct {
	settings
	t      *testing.T
	lab    *faults.Lab
	record *soak.Recorder
	jobs   *ledger
	// whole ends when nothing is waited for any more.
	whole  context.Context
	faults atomic.Int64
}

// random gives each part of a run its own numbers, so that one does not depend on the pace of the others.
func (r *run) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(r.seed, part)) }

func TestSoak(t *testing.T) {
	s := settingsOf(t)
	t.Logf("soak: SOAK_SEED=%d for %s, history in %s", s.seed, s.length, s.history)
	jobs.LogRedis(slog.New(slog.DiscardHandler)) // what the producers do not reach is broken on purpose
	faults.Programs(t)
	lab := faults.NewLab(t, faults.StartDaemon(t))
	whole, end := context.WithTimeout(t.Context(), s.length+drainTime)
	defer end()
	r := &run{settings: s, t: t, lab: lab, jobs: newLedger(), whole: whole}
	var err error
	r.record, err = soak.Create(s.history)
	require.NoError(t, err)
	r.record.Add(soak.Event{Kind: soak.Begun, Bound: maxAttempts, Text: fmt.Sprintf("seed %d, %s", s.seed, s.length)})

	r.live()
	r.comeToRest()
	require.NoError(t, r.record.Close())

	events, err := soak.ReadFile(s.history)
	require.NoError(t, err)
	violations, figures := soak.Check(events)
	t.Logf("soak: SOAK_SEED=%d\n%s", s.seed, figures)
	for _, violation := range violations {
		t.Error(violation)
	}
	t.Logf("soak: %d promises were not kept", len(violations))
}

// live has producers work and faults happen until the time is over. All is mended when it returns.
func (r *run) live() {
	crew := r.newCrew(3)
	ctx, cancel := context.WithTimeout(r.whole, r.length)
	defer cancel()
	var others sync.WaitGroup
	for part := range uint64(producers) {
		others.Go(func() { r.produce(ctx, part) })
	}
	others.Go(func() { r.breakGround(ctx) })
	r.breakWorkers(ctx, crew) // here, since only the test's goroutine may start workers
	others.Wait()
}

// comeToRest waits until every job has its result, and notes what there is then.
func (r *run) comeToRest() {
	r.t.Logf("soak: the faults are over, %d jobs are to come to their end", r.jobs.open())
	r.jobs.wait()
	r.awaitQueues()
	r.readAll()
	r.noteOrphans()
	if err := r.lab.StopWorkers(); err != nil {
		r.record.Add(soak.Event{Kind: soak.Left, Text: err.Error()})
	}
	r.noteLeft()
	for _, w := range r.lab.Workers() {
		r.noteLog(w)
	}
	r.record.Add(soak.Event{Kind: soak.Ended})
	require.NoError(r.t, r.lab.RemoveVolumes())
}
