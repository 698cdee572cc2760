package grade

import (
	"bytes"
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// The exit codes of the format's output validators.
const (
	validatorAccepts = 42
	validatorRejects = 43
)

// ValidatorExit reads the exit code of an output validator: 42 is AC, 43 is WA and any other, 0
// included, is IE because the validator did not do its work.
func ValidatorExit(code int) Verdict {
	switch code {
	case validatorAccepts:
		return AC
	case validatorRejects:
		return WA
	}
	return IE
}

// OfValidator reads the run of an output validator. It must have ended by itself: one that a
// signal or a limit ended is IE whatever code it left.
func OfValidator(run sandbox.Result) Finding {
	if !endedByItself(run) {
		return internalError("the output validator failed: %s", runMessage(run))
	}
	verdict := ValidatorExit(run.ExitCode)
	if verdict == IE {
		return internalError("the output validator ended with exit code %d: want 42 for right or 43 for wrong", run.ExitCode)
	}
	return Finding{Verdict: verdict}
}

func endedByItself(run sandbox.Result) bool {
	return run.Outcome == sandbox.OutcomeOK || run.Outcome == sandbox.OutcomeNonzeroExit
}

func internalError(format string, args ...any) Finding {
	return Finding{Verdict: IE, Message: fmt.Sprintf(format, args...), Public: "internal error"}
}

// feedbackBytes is the most that is kept of a feedback file.
const feedbackBytes = 8 << 10

// Feedback are the files of a validator's feedback folder that mean something. nil is a
// file that is not there.
type Feedback struct {
	// JudgeMessage and TeamMessage are judgemessage.txt and teammessage.txt.
	JudgeMessage, TeamMessage []byte
	// Score and Multiplier are score.txt and score_multiplier.txt.
	Score, Multiplier []byte
	// NextPass is nextpass.in of a multi-pass problem: the input of the next pass.
	NextPass []byte
}

// WithFeedback adds to a validator's finding what it wrote: messages, cut at 8 KiB each, and
// scores. Scores that nobody can read, both of them at once, and scores or a next pass
// beside a rejection make the finding IE.
func (f Finding) WithFeedback(feedback Feedback) Finding {
	if len(feedback.JudgeMessage) > 0 && f.Verdict != IE {
		f.Message = feedbackText(feedback.JudgeMessage)
	}
	if len(feedback.TeamMessage) > 0 {
		f.Public = feedbackText(feedback.TeamMessage)
	}
	hasScore := feedback.Score != nil || feedback.Multiplier != nil
	switch {
	case f.Verdict == IE:
		return f
	case f.Verdict != AC && hasScore:
		return internalError("the output validator wrote a score and rejected the output")
	case f.Verdict != AC && feedback.NextPass != nil:
		return internalError("the output validator wrote nextpass.in and rejected the output")
	case feedback.Score != nil && feedback.Multiplier != nil:
		return internalError("the output validator wrote both score.txt and score_multiplier.txt")
	}
	return f.withScores(feedback)
}

func (f Finding) withScores(feedback Feedback) Finding {
	if feedback.Score != nil {
		score, ok := parseFloat(bytes.TrimSpace(feedback.Score), false)
		if !ok {
			return internalError("score.txt is %s: want one number", excerpt(feedback.Score, 0))
		}
		f.Score = &score
	}
	if feedback.Multiplier != nil {
		factor, ok := parseFloat(bytes.TrimSpace(feedback.Multiplier), false)
		if !ok || factor < 0 || factor > 1 {
			return internalError("score_multiplier.txt is %s: want one number from 0 to 1", excerpt(feedback.Multiplier, 0))
		}
		f.Multiplier = &factor
	}
	return f
}

func feedbackText(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) > feedbackBytes {
		return string(bytes.ToValidUTF8(data[:feedbackBytes], nil)) + "..."
	}
	return string(bytes.ToValidUTF8(data, []byte("\uFFFD")))
}
