package soak

import (
	"fmt"
	"slices"
)

// shutDown is the error of an attempt that a stopping worker gave back, which costs the job nothing.
const shutDown = "worker shut down"

// orderlyAttempts checks the list of tries in every final result.
func orderlyAttempts(x *index) []Violation {
	return x.each(func(j *job) []Violation {
		if len(j.final) == 0 {
			return nil
		}
		if problem := x.attemptProblem(*j.final[0].Got); problem != "" {
			return []Violation{{Rule: ruleAttempts, Job: j.id, Text: problem, Lines: j.final}}
		}
		return nil
	})
}

// attemptProblem says what is wrong with the attempts of a result, or nothing.
func (x *index) attemptProblem(got Got) string {
	good, failed := 0, 0
	for i, a := range got.Attempts {
		switch {
		case a.Error == "":
			good++
		case a.Error != shutDown:
			failed++
		}
		if a.Ended.Before(a.Started) {
			return fmt.Sprintf("attempt %d ended before it started", a.Number)
		}
		if i > 0 && (a.Number <= got.Attempts[i-1].Number || a.Started.Before(got.Attempts[i-1].Started)) {
			return fmt.Sprintf("attempt %d comes after attempt %d", a.Number, got.Attempts[i-1].Number)
		}
	}
	last := len(got.Attempts) - 1
	switch {
	case good > 1:
		return fmt.Sprintf("%d attempts gave a result", good)
	case good == 1 && got.Attempts[last].Error != "":
		return "it was tried again after an attempt had given the result"
	case failed > x.bound:
		return fmt.Sprintf("%d attempts failed: want at most %d", failed, x.bound)
	case good == 1 && failed == x.bound:
		return fmt.Sprintf("it was run once more after %d attempts had failed", failed)
	case got.Outcome == outcomeOurs && (good > 0 || failed < x.bound):
		return fmt.Sprintf("it was given up after %d failed attempts: want %d", failed, x.bound)
	case got.Outcome != outcomeOurs && got.Outcome != outcomeCanceled && good == 0:
		return "no attempt gave the result"
	}
	return ""
}

// excusedFailures checks that each attempt that failed, and each job that was given up, did so while something was broken.
func excusedFailures(x *index) []Violation {
	return x.each(func(j *job) (found []Violation) {
		for _, e := range j.final {
			for _, a := range e.Got.Attempts {
				if a.Error != "" && len(x.during(a.Started, a.Ended)) == 0 {
					found = append(found, Violation{
						Rule: ruleReason, Job: j.id, Text: fmt.Sprintf("attempt %d failed while nothing was broken: %s", a.Number, a.Error), Lines: []Event{e},
					})
				}
			}
		}
		return found
	})
}

// oneEnd checks by the workers' own words that no job was brought to its end twice, and that they wrote what is there.
func oneEnd(x *index) []Violation {
	return x.each(func(j *job) []Violation {
		for i := 1; i < len(j.done); i++ {
			if !x.forgot(j.done[i-1].At, j.done[i].At) {
				return []Violation{{Rule: ruleOnce, Job: j.id, Text: "workers stored a result of it twice", Lines: slices.Concat(j.done, j.final)}}
			}
		}
		return nil
	})
}

// remembered checks that a job which Redis had confirmed is only missed after Redis has lost its latest data.
func remembered(x *index) []Violation {
	return x.each(func(j *job) []Violation {
		for _, gone := range j.vanished {
			accepted := slices.DeleteFunc(slices.Clone(j.accepted), func(e Event) bool { return e.At.After(gone.At) })
			if len(accepted) > 0 && !x.forgot(accepted[len(accepted)-1].At, gone.At) {
				return []Violation{{Rule: ruleVanished, Job: j.id, Text: "it was", Lines: []Event{accepted[len(accepted)-1], gone}}}
			}
		}
		return nil
	})
}

// sameSubmission checks that a job which is handed in again was there, unless the first time was not confirmed or was lost.
func sameSubmission(x *index) []Violation {
	return x.each(func(j *job) []Violation {
		for i := 1; i < len(j.accepted); i++ {
			before, after := j.accepted[i-1], j.accepted[i]
			if !after.Again && !x.forgot(before.At, after.At) {
				return []Violation{{Rule: ruleSubmitted, Job: j.id, Text: "it was made anew", Lines: []Event{before, after}}}
			}
		}
		return nil
	})
}
