package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Figures sum a run up.
type Figures struct {
	// Took is from the first event to the last, by the clock of the run.
	Took time.Duration
	// Jobs were accepted and Results are there at the end, by outcome.
	Jobs    int
	Results map[string]int
	// Submissions that were repeated, that were refused at first, and jobs that a Redis that forgot had to be told of again.
	Repeated, Refused, Vanished int
	// Cancellations that were confirmed.
	Cancellations int
	// Attempts of all jobs, and those of them that failed or were given back.
	Attempts, Failed, Requeued int
	// Dropped are results that came second, Recovered the jobs that were taken from lost workers.
	Dropped, Recovered, Lost int
	// Faults that were injected, by kind.
	Faults map[string]int
	// Wait is from the submission to the result, of jobs that nobody canceled.
	Wait Spread
	// Recovery is from the killing of a worker to the next start of a job that it had.
	Recovery Spread
	// Cancel is from the confirmation that a job will be canceled to its end.
	Cancel Spread
	// Left is what should not be there.
	Left int
}

// Spread is how a time is distributed.
type Spread struct {
	Count         int
	P50, P99, Max time.Duration
}

// spreadOf takes the nearest rank.
func spreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(times))
	rank := func(percent int) time.Duration { return sorted[(len(sorted)*percent+99)/100-1] }
	return Spread{Count: len(sorted), P50: rank(50), P99: rank(99), Max: sorted[len(sorted)-1]}
}

func (s Spread) String() string {
	if s.Count == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %.2f s, p99 %.2f s, max %.2f s (of %d)", s.P50.Seconds(), s.P99.Seconds(), s.Max.Seconds(), s.Count)
}

func figuresOf(x *index) Figures {
	f := Figures{Results: map[string]int{}, Faults: map[string]int{}, Left: len(x.left)}
	if len(x.events) > 0 {
		f.Took = x.events[len(x.events)-1].At.Sub(x.events[0].At)
	}
	for _, e := range x.events {
		if e.Kind == Refused {
			f.Refused++
		}
	}
	for _, o := range x.outages {
		f.Faults[o.Kind]++
	}
	for _, e := range x.logged {
		switch e.Message {
		case logDropped:
			f.Dropped++
		case logRecovered:
			f.Recovered++
		case logRequeued:
			f.Requeued++
		case logLost:
			f.Lost++
		}
	}
	var waits, recoveries, cancels []time.Duration
	for _, id := range x.ids {
		j := x.jobs[id]
		f.Vanished += len(j.vanished)
		f.Cancellations += len(j.canceled)
		if len(j.accepted) > 0 {
			f.Jobs++
			f.Repeated += len(j.accepted) - 1
		}
		if len(j.final) == 0 {
			continue
		}
		got := j.final[0].Got
		f.Results[got.Outcome]++
		f.Attempts += len(got.Attempts)
		for _, a := range got.Attempts {
			if a.Error != "" {
				f.Failed++
			}
		}
		if len(j.canceled) == 0 {
			waits = append(waits, got.Finished.Sub(got.Submitted))
		} else if got.Outcome == outcomeCanceled && j.canceled[0].Text == CancelRunning {
			cancels = append(cancels, max(0, got.Finished.Sub(j.canceled[0].At)))
		}
		recoveries = append(recoveries, x.recoveries(*got)...)
	}
	f.Wait, f.Recovery, f.Cancel = spreadOf(waits), spreadOf(recoveries), spreadOf(cancels)
	return f
}

// FaultKilled is the kind of fault that recovery times are reckoned from; its target is the worker's id.
const FaultKilled = "worker SIGKILL"

// recoveries are the times from the killing of a worker to the attempts that came after those which it had.
func (x *index) recoveries(got Got) (times []time.Duration) {
	for i := 1; i < len(got.Attempts); i++ {
		before, after := got.Attempts[i-1], got.Attempts[i]
		for _, o := range x.outages {
			if o.Kind == FaultKilled && o.Target == before.Worker && before.Started.Before(o.begun.At) && before.Ended.After(o.begun.At) && before.Error != "" {
				times = append(times, after.Started.Sub(o.begun.At))
			}
		}
	}
	return times
}

// String is a table for people.
func (f Figures) String() string {
	var text strings.Builder
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(&text, "%-28s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("time", "%s", f.Took.Round(time.Second))
	row("jobs", "%d", f.Jobs)
	row("results", "%d: %s", sum(f.Results), counts(f.Results))
	row("attempts", "%d, of which failed or given back %d", f.Attempts, f.Failed)
	row("submissions", "%d repeated, %d refused at first", f.Repeated, f.Refused)
	row("cancellations", "%d", f.Cancellations)
	row("duplicates dropped", "%d", f.Dropped)
	row("recoveries", "%d jobs, of %d lost workers; %d given back by stopping ones", f.Recovered, f.Lost, f.Requeued)
	row("submitted again", "%d, after Redis had lost them", f.Vanished)
	row("submission to result", "%s", f.Wait)
	row("SIGKILL to next start", "%s", f.Recovery)
	row("cancellation to end", "%s", f.Cancel)
	row("faults", "%d: %s", sum(f.Faults), counts(f.Faults))
	row("left over", "%d", f.Left)
	return text.String()
}

func sum(of map[string]int) (total int) {
	for _, n := range of {
		total += n
	}
	return total
}

func counts(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, of[name]))
	}
	return strings.Join(parts, ", ")
}
