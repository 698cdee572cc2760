package soak

import (
	"slices"
	"time"
)

// job is all that a history says of one job.
type job struct {
	id         string
	planned    []Event
	accepted   []Event
	asked      []Event
	canceled   []Event
	sighted    []Event
	vanished   []Event
	final      []Event
	unfinished []Event
	done       []Event // "job done" in a worker's log
}

// outage is a fault from its beginning to its end.
type outage struct {
	Fault
	begun  Event
	lifted Event // with the time of the last event if there was none
	isOver bool
}

// index is a history in order of what it is about.
type index struct {
	events  []Event
	jobs    map[string]*job
	ids     []string // of the jobs, as they came
	outages []*outage
	logged  []Event
	left    []Event
	bound   int // of attempts
}

// The messages of a worker's log that the checker counts.
const (
	logDone      = "job done"
	logDropped   = "result dropped, another attempt owns the job"
	logRecovered = "job recovered"
	logRequeued  = "job requeued"
	logLost      = "worker was lost"
)

func newIndex(events []Event) *index {
	x := &index{events: events, jobs: map[string]*job{}}
	open := map[int]*outage{}
	for _, e := range events {
		switch e.Kind {
		case Begun:
			x.bound = e.Bound
		case FaultBegun:
			o := &outage{Fault: *e.Fault, begun: e}
			open[e.Fault.ID] = o
			x.outages = append(x.outages, o)
		case FaultLifted:
			if o := open[e.Fault.ID]; o != nil {
				o.lifted, o.isOver = e, true
			}
		case Logged:
			x.logged = append(x.logged, e)
			if e.Message == logDone && e.Job != "" {
				j := x.job(e.Job)
				j.done = append(j.done, e)
			}
		case Left:
			x.left = append(x.left, e)
		case Refused, Ended:
		default:
			x.job(e.Job).add(e)
		}
	}
	for _, j := range x.jobs { // logs are written down at the end, one worker's after the other's
		slices.SortStableFunc(j.done, func(a, b Event) int { return a.At.Compare(b.At) })
	}
	for _, o := range x.outages {
		if !o.isOver {
			o.lifted = events[len(events)-1]
		}
	}
	return x
}

func (x *index) job(id string) *job {
	j := x.jobs[id]
	if j == nil {
		j = &job{id: id}
		x.jobs[id] = j
		x.ids = append(x.ids, id)
	}
	return j
}

func (j *job) add(e Event) {
	list := map[Kind]*[]Event{
		Planned: &j.planned, Accepted: &j.accepted, CancelAsked: &j.asked, Canceled: &j.canceled, Sighted: &j.sighted,
		Vanished: &j.vanished, Final: &j.final, Unfinished: &j.unfinished,
	}[e.Kind]
	if list != nil {
		*list = append(*list, e)
	}
}

// settling is how long after a fault was lifted its consequences may show: leases of half a minute run out,
// retries are paused for up to that, and the next sweep of a reaper is a minute away.
const settling = 90 * time.Second

// warning is how long before a fault is written down it may have had its first consequence.
const warning = 2 * time.Second

// during returns the faults that may have had a consequence between two times.
func (x *index) during(from, to time.Time) []*outage {
	return slices.DeleteFunc(slices.Clone(x.outages), func(o *outage) bool {
		return o.begun.At.Add(-warning).After(to) || o.lifted.At.Add(settling).Before(from)
	})
}

// forgetting is how much of the time before it a loss of Redis' latest data takes away.
const forgetting = 5 * time.Second

// forgot tells whether Redis may have lost something that was written at a time, by another time.
func (x *index) forgot(written, by time.Time) bool {
	return slices.ContainsFunc(x.outages, func(o *outage) bool {
		return o.Forgets && !o.lifted.At.Before(written) && !o.begun.At.Add(-forgetting).After(written) && !o.begun.At.After(by)
	})
}
