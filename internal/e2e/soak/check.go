package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Violation is a promise that a run did not keep.
type Violation struct {
	// Rule is the promise.
	Rule string
	// Job is the job that it was made for, empty if it is none's.
	Job string
	// Text says what was found instead.
	Text string
	// Lines are the lines of the history that show it.
	Lines []Event
}

// String is the violation with its lines.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: ", v.Rule)
	if v.Job != "" {
		fmt.Fprintf(&text, "job %s: ", v.Job)
	}
	text.WriteString(v.Text)
	for _, e := range v.Lines {
		fmt.Fprintf(&text, "\n\t%d: %.2000s", e.Line, e.Raw)
	}
	return text.String()
}

// The promises.
const (
	ruleWhole     = "the history is whole"
	ruleOne       = "an accepted job has exactly one final result"
	ruleKnown     = "nothing but what was submitted has a result"
	ruleRight     = "a result is what the program gives"
	ruleReason    = "our failure has a fault for its reason"
	ruleStable    = "a result never changes once it was seen"
	ruleCanceled  = "a canceled job is canceled, or was done before"
	ruleUnasked   = "nothing is canceled that nobody canceled"
	ruleAttempts  = "attempts are counted, bounded and in order"
	ruleOnce      = "no job ends twice"
	ruleVanished  = "no accepted job is forgotten"
	ruleClean     = "nothing is left"
	ruleNamed     = "the log names every fault"
	ruleFault     = "every fault was lifted"
	ruleSubmitted = "a repeated submission is the same job"
)

// Check reads a history and returns every promise that was not kept, and the figures of the run.
func Check(events []Event) ([]Violation, Figures) {
	x := newIndex(events)
	var found []Violation
	for _, rule := range []func(*index) []Violation{
		wholeHistory, liftedFaults, oneResult, rightResult, stableResult, heededCancellations,
		orderlyAttempts, excusedFailures, oneEnd, remembered, sameSubmission, nothingLeft, namedFaults,
	} {
		found = append(found, rule(x)...)
	}
	return found, figuresOf(x)
}

// wholeHistory checks that the run came to its end, since a history without one proves nothing.
func wholeHistory(x *index) (found []Violation) {
	if len(x.events) == 0 {
		return []Violation{{Rule: ruleWhole, Text: "it is empty"}}
	}
	if first := x.events[0]; first.Kind != Begun || first.Bound < 1 {
		found = append(found, Violation{Rule: ruleWhole, Text: "it does not begin with the beginning and the bound of attempts", Lines: x.events[:1]})
	}
	last := x.events[len(x.events)-1:]
	if last[0].Kind != Ended {
		found = append(found, Violation{Rule: ruleWhole, Text: "it stops before the end of the run", Lines: last})
	}
	if len(x.ids) == 0 {
		found = append(found, Violation{Rule: ruleWhole, Text: "there is no job in it"})
	}
	return found
}

func liftedFaults(x *index) (found []Violation) {
	for _, o := range x.outages {
		if !o.isOver {
			found = append(found, Violation{Rule: ruleFault, Text: o.Kind + " was not", Lines: []Event{o.begun}})
		}
	}
	return found
}

// nothingLeft checks what was found after the end.
func nothingLeft(x *index) (found []Violation) {
	for _, e := range x.left {
		found = append(found, Violation{Rule: ruleClean, Text: e.Text, Lines: []Event{e}})
	}
	return found
}

// namedFaults checks that of every fault that workers must notice one of them said so.
func namedFaults(x *index) (found []Violation) {
	for _, o := range x.outages {
		if len(o.Says) == 0 {
			continue
		}
		named := slices.ContainsFunc(x.logged, func(e Event) bool {
			return !e.At.Before(x.troubleBefore(o).Add(-warning)) && !e.At.After(o.lifted.At.Add(settling)) &&
				slices.ContainsFunc(o.Says, func(s Said) bool { return s.matches(e) })
		})
		if !named {
			found = append(found, Violation{
				Rule: ruleNamed, Lines: []Event{o.begun, o.lifted},
				Text: fmt.Sprintf("of %s %s no worker said any of %q", o.Kind, o.Target, o.Says),
			})
		}
	}
	return found
}

// troubleBefore is when the fault began, or the earliest of those that it came on top of: a worker that is killed may have been cut off, and found
// to be lost, before.
func (x *index) troubleBefore(o *outage) time.Time {
	since := o.begun.At
	for _, other := range x.outages {
		if other.begun.At.Before(since) && other.lifted.At.After(o.begun.At) {
			since = other.begun.At
		}
	}
	return since
}
