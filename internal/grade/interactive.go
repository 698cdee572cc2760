package grade

import "github.com/sandloop/sandloop/internal/sandbox"

// OfInteraction joins the runs of a validator and a submission that talked to each other;
// validatorFirst tells which of the two ended first. As in the reference tools, a validator that failed
// decides, and so does one that rejected before the submission ended: what the submission did
// after losing its partner is not its fault. Otherwise a limit or crash of the submission
// decides, and then the validator.
func OfInteraction(validator, submission sandbox.Result, validatorFirst bool) Finding {
	judged := OfValidator(validator)
	if judged.Verdict == IE || judged.Verdict == WA && validatorFirst {
		return judged
	}
	// What a submission wrote went to the validator: that its copy was cut says nothing.
	submission.Stdout.Truncated = false
	if finding, done := OfRun(submission); done {
		return finding
	}
	return judged
}
