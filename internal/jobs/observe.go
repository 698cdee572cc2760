package jobs

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Observation is a job that got its result from a worker, for whoever counts. A job that was canceled while it waited
// got its result from whoever canceled it.
type Observation struct {
	Queue Queue
	// Language is what the job asked for, whatever that is: who submits jobs chooses it. It is empty when the job
	// could not be read.
	Language string
	Outcome  sandbox.Outcome
	// Attempt is the number of the attempt that ended the job here. It is 0, and so is all that follows, for a job that was
	// given up because its workers were lost.
	Attempt int
	// QueueTime is from the submission to the begin of that attempt and SlotTime from there to the stored result.
	QueueTime, SlotTime time.Duration
	// RunTime is the wall time of the program, 0 if none ran.
	RunTime time.Duration
}

// observe hands on what happened, if anybody wants to know.
func (w *Worker) observe(o Observation) {
	if w.options.Observe != nil {
		w.options.Observe(o)
	}
}

// observeEnd tells that an attempt of this worker ended its job.
func (w *Worker) observeEnd(a *attempt, outcome sandbox.Outcome, ran time.Duration) {
	w.observe(Observation{
		Queue: a.queue, Language: a.job.Program.Language, Outcome: outcome, Attempt: a.number,
		QueueTime: max(0, a.started.Sub(a.submitted)), SlotTime: max(0, time.Since(a.started)), RunTime: ran,
	})
}

// observeReleased tells of a job that ended when its attempt was given up, if it did. The reply is that of the script.
func (w *Worker) observeReleased(a *attempt, reply []string) {
	switch {
	case len(reply) == 0 || reply[0] != "done":
	case len(reply) == 1:
		w.observeEnd(a, sandbox.OutcomeCanceled, 0)
	default:
		w.observeEnd(a, sandbox.Outcome(reply[1]), 0)
	}
}

// vitals are what can be seen of a worker from outside.
type vitals struct {
	serving          atomic.Bool
	heartbeat, sweep pulse
	lastBeat         time.Time // for the heartbeat alone
	busy             [3]atomic.Int64
}

// The kinds of slots.
const (
	sharedSlot = iota
	interactiveSlot
	sessionSlot
)

// SlotUse counts slots of one kind.
type SlotUse struct {
	// Kind is shared, interactive or session.
	Kind string
	// Busy of the Slots have a job.
	Slots, Busy int
}

// Slots tells what the worker has and uses at this moment. Those for sessions are there only if it runs any.
func (w *Worker) Slots() []SlotUse {
	use := []SlotUse{
		{Kind: "shared", Slots: w.options.Concurrency, Busy: int(w.vitals.busy[sharedSlot].Load())},
		{Kind: "interactive", Slots: w.options.InteractiveSlots, Busy: int(w.vitals.busy[interactiveSlot].Load())},
	}
	if w.options.Sessions != nil {
		use = append(use, SlotUse{Kind: "session", Slots: w.options.SessionSlots, Busy: int(w.vitals.busy[sessionSlot].Load())})
	}
	return use
}

// occupy counts a slot as busy until the returned function is called.
func (v *vitals) occupy(held slot, forwarded bool) (leave func()) {
	kind := sharedSlot
	switch {
	case forwarded:
		kind = sessionSlot
	case held.interactive:
		kind = interactiveSlot
	}
	v.busy[kind].Add(1)
	return func() { v.busy[kind].Add(-1) }
}

// Serving tells whether the worker is registered and takes jobs.
func (w *Worker) Serving() bool { return w.vitals.serving.Load() && !w.Draining() }

// Draining tells whether the worker was told to stop: it takes no more jobs.
func (w *Worker) Draining() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// Paused tells whether the worker takes no jobs because it could not run them.
func (w *Worker) Paused() bool {
	w.slots.mu.Lock()
	defer w.slots.mu.Unlock()
	return w.slots.paused
}

const (
	// heartbeatStuck is far more than a heartbeat takes that Redis does not answer.
	heartbeatStuck = 30 * time.Second
	// sweepStuck is the same for a sweep, which may recover the jobs of a large worker.
	sweepStuck = 2 * time.Minute
)

// Live tells whether the worker's own loops go round. It asks nobody, so a Redis or Docker that is away does not
// make it fail. The error names the loop that is stuck; nil also before Run began and after it ended.
func (w *Worker) Live() error {
	for _, loop := range []struct {
		name  string
		pulse *pulse
		stuck time.Duration
	}{{"heartbeat", &w.vitals.heartbeat, heartbeatStuck}, {"sweep for lost workers", &w.vitals.sweep, sweepStuck}} {
		if still := loop.pulse.still(); still > loop.stuck {
			return fmt.Errorf("the %s has been stuck for %s", loop.name, still.Round(time.Second))
		}
	}
	return nil
}

// beaten counts what became of a heartbeat.
func (w *Worker) beaten(err error, now time.Time) {
	if err != nil {
		w.counters.HeartbeatsFailed.Add(1)
		return
	}
	if last := w.vitals.lastBeat; !last.IsZero() && now.Sub(last) >= heartbeatPeriod*3/2 {
		w.counters.HeartbeatsLate.Add(1)
	}
	w.vitals.lastBeat = now
}

// lost counts a dead worker whose jobs are back on their queues, and how long that took from the first sight.
func (w *Worker) lost(took time.Duration) {
	w.counters.Lost.Add(1)
	if w.options.ObserveRecovery != nil {
		w.options.ObserveRecovery(max(0, took))
	}
}

// pulse is when a loop last went round, 0 when it does not run. Clocks that are set do not disturb it.
type pulse struct{ at atomic.Int64 }

// epoch is what pulses count from.
var epoch = time.Now()

func (p *pulse) beat() { p.at.Store(int64(time.Since(epoch))) }
func (p *pulse) rest() { p.at.Store(0) }

// still is for how long the loop has not gone round.
func (p *pulse) still() time.Duration {
	at := p.at.Load()
	if at == 0 {
		return 0
	}
	return time.Since(epoch) - time.Duration(at)
}
