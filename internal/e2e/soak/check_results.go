package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

const (
	outcomeCanceled = "canceled"
	outcomeOurs     = "infra_error"
)

// each collects what a rule finds of every job.
func (x *index) each(rule func(*job) []Violation) (found []Violation) {
	for _, id := range x.ids {
		found = append(found, rule(x.jobs[id])...)
	}
	return found
}

// oneResult checks that every accepted job came to an end, and nothing else did.
func oneResult(x *index) []Violation {
	return x.each(func(j *job) (found []Violation) {
		if len(j.planned) != 1 {
			return []Violation{{Rule: ruleKnown, Job: j.id, Text: fmt.Sprintf("it was planned %d times", len(j.planned)), Lines: slices.Concat(j.planned, j.final)}}
		}
		switch {
		case len(j.accepted) == 0 && len(j.final) == 0 && len(j.unfinished) == 0:
			return nil // the run ended before it could be handed in
		case len(j.final) == 1 && len(j.unfinished) == 0:
			return nil
		case len(j.final) == 0 && x.forgotten(j):
			return nil
		}
		return []Violation{{
			Rule: ruleOne, Job: j.id, Text: fmt.Sprintf("it has %d", len(j.final)),
			Lines: slices.Concat(j.planned, j.accepted, j.vanished, j.unfinished, j.final),
		}}
	})
}

// forgotten tells whether a job's producer has had its result, and Redis may have lost all of the job since.
func (x *index) forgotten(j *job) bool {
	return len(j.sighted) > 0 && len(j.accepted) > 0 && len(j.unfinished) == 1 &&
		strings.Contains(j.unfinished[0].Text, jobs.ErrNotFound.Error()) &&
		x.forgot(j.accepted[len(j.accepted)-1].At, j.unfinished[0].At)
}

// rightResult checks that no result was blamed on a program that does not give it.
func rightResult(x *index) []Violation {
	return x.each(func(j *job) (found []Violation) {
		if len(j.planned) == 0 {
			return nil
		}
		want := *j.planned[0].Want
		for _, e := range slices.Concat(j.sighted, j.final) {
			if e.Got.Outcome == outcomeOurs || e.Got.Outcome == outcomeCanceled {
				continue // the business of other rules
			}
			if wrong := want.differs(*e.Got); wrong != "" {
				found = append(found, Violation{Rule: ruleRight, Job: j.id, Text: wrong, Lines: []Event{j.planned[0], e}})
				break
			}
		}
		return found
	})
}

// differs says how a result is not the one that is wanted, or nothing.
func (w Want) differs(got Got) string {
	switch {
	case got.Outcome != w.Outcome:
		return fmt.Sprintf("outcome %q instead of %q", got.Outcome, w.Outcome)
	case w.ExitCode != nil && got.ExitCode != *w.ExitCode:
		return fmt.Sprintf("exit code %d instead of %d", got.ExitCode, *w.ExitCode)
	case got.Verdict != w.Verdict:
		return fmt.Sprintf("verdict %q instead of %q", got.Verdict, w.Verdict)
	case w.Partial && len(got.Stdout) < len(w.Stdout) && got.Stdout == w.Stdout[:len(got.Stdout)]:
		return ""
	case got.Stdout != w.Stdout:
		return fmt.Sprintf("output %q instead of %q", got.Stdout, w.Stdout)
	case got.Total != w.Total:
		return fmt.Sprintf("%d bytes of output instead of %d", got.Total, w.Total)
	}
	return ""
}

// stableResult compares what was seen of a result on the way with what was there at the end. A Redis that lost what
// it was told last may have had to be told anew.
func stableResult(x *index) []Violation {
	return x.each(func(j *job) (found []Violation) {
		seen := slices.Concat(j.sighted, j.final)
		for i := 1; i < len(seen); i++ {
			before, after := seen[i-1], seen[i]
			if before.Got.Print == after.Got.Print || x.forgot(before.Got.Finished, after.At) {
				continue
			}
			return []Violation{{Rule: ruleStable, Job: j.id, Text: "it was seen with two results", Lines: []Event{before, after}}}
		}
		return nil
	})
}

// cancelBound is how long a job may go on after its cancellation was confirmed while nothing is broken. A worker
// asks once a second, and a busy machine needs a moment.
const cancelBound = 10 * time.Second

// heededCancellations checks jobs that were canceled, and that no others are.
func heededCancellations(x *index) []Violation {
	return x.each(func(j *job) []Violation {
		if len(j.final) == 0 {
			return nil
		}
		final := j.final[0]
		if len(j.canceled) == 0 {
			if final.Got.Outcome == outcomeCanceled && len(j.asked) == 0 {
				return []Violation{{Rule: ruleUnasked, Job: j.id, Text: "it is", Lines: slices.Concat(j.accepted, j.final)}}
			}
			return nil
		}
		if problem := x.cancelProblem(j.canceled[0], final); problem != "" {
			return []Violation{{Rule: ruleCanceled, Job: j.id, Text: problem, Lines: slices.Concat(j.canceled, j.final)}}
		}
		return nil
	})
}

// The states in which a confirmed cancellation can leave a job, as a history has them.
const (
	CancelRunning  = "running"  // its worker will end it
	CancelCanceled = "canceled" // it is done, and canceled
	CancelDone     = "done"     // it was done before
)

// cancelProblem says how a job did not heed its first cancellation, or nothing.
func (x *index) cancelProblem(asked, final Event) string {
	outcome, late := final.Got.Outcome, final.Got.Finished.Sub(asked.At)
	switch {
	case x.forgot(asked.At, final.At) || x.forgot(final.Got.Finished, final.At):
		return "" // what was confirmed was lost
	case asked.Text == CancelCanceled && outcome != outcomeCanceled:
		return fmt.Sprintf("it was confirmed as canceled and ended as %s", outcome)
	case asked.Text == CancelDone && late > 0:
		return fmt.Sprintf("it was said to be done and ended %s later as %s", late.Round(time.Millisecond), outcome)
	case late > cancelBound && len(x.during(asked.At, final.Got.Finished)) == 0:
		return fmt.Sprintf("it went on for %s and ended as %s", late.Round(time.Millisecond), outcome)
	}
	return ""
}
