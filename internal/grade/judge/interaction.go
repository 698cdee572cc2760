package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// interaction judges with one output validator that talks with the submission while both run.
type interaction struct {
	judge     *Judge
	validator checkProgram
	// limits are what the submission asks for.
	limits sandbox.Overrides
}

// maxTalk is the most that each side of an interaction can say in bytes. That much of it can be in memory, if
// the other side does not listen.
const maxTalk = 32 * sandbox.MiB

// boundTalk gives a program that talks a limit on its output, or a lower one.
func (j *Judge) boundTalk(p sandbox.Program) sandbox.Program {
	limits, err := p.Limits.Resolve(j.options.Defaults, j.options.Maxima)
	bound := min(maxTalk, j.options.Maxima.OutputKill)
	if err == nil && (limits.OutputKill == 0 || limits.OutputKill > bound) { // the runner says what an error means
		p.Limits.OutputKill = &bound
	}
	return p
}

// wallTime is that of the validator's run, which lasts as long as the submission's and must be able to go on after it.
func (i interaction) wallTime(test grade.Test) *sandbox.Seconds {
	own, err := i.validator.program.Limits.Resolve(i.judge.options.Defaults, i.judge.options.Maxima)
	submission, otherErr := i.limits.Resolve(i.judge.options.Defaults, i.judge.options.Maxima)
	if errors.Join(err, otherErr) != nil {
		return nil // the runner refuses it
	}
	wall := sandbox.Seconds(submission.WallTime)
	if test.WallTime != nil {
		wall = *test.WallTime
	}
	wall = min(wall+sandbox.Seconds(own.WallTime), sandbox.Seconds(i.judge.options.Maxima.WallTime))
	return &wall
}

// start has the validator run first, so that its start costs the submission no time.
func (i interaction) start(ctx context.Context, test grade.Test, given *sandbox.Test) (check, error) {
	answer, err := i.judge.load(ctx, test.Answer)
	if err != nil {
		return nil, fmt.Errorf("get answer: %w", err)
	}
	talk := newConversation()
	request := newRequest(validatorTest(test, given.Stdin, answer))
	request.test.WallTime = i.wallTime(test)
	request.test.Talk = &sandbox.Talk{Input: talk.toValidator, Output: talk.toSubmission}
	request.ended = talk.validatorEnded
	if err := i.judge.sessions.send(ctx, i.validator, request); err != nil {
		return nil, err
	}
	// If the submission's run is lost, nobody is left to talk with.
	stop := context.AfterFunc(ctx, talk.submissionEnded)
	select {
	case <-request.begun:
	case <-request.done:
		if request.err != nil {
			return nil, fmt.Errorf("%s: %w", i.validator.name, request.err)
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	given.Stdin, given.Talk = nil, &sandbox.Talk{Input: talk.toSubmission, Output: talk.toValidator}
	from := time.Now()
	return func(ctx context.Context, result sandbox.TestResult) (grade.Finding, error) {
		came := time.Now()
		stop()
		talk.submissionEnded()
		validated, err := request.wait(ctx)
		if err != nil {
			return grade.Finding{}, fmt.Errorf("%s: %w", i.validator.name, err)
		}
		validatorEnd := endOf(request.from, talk.toSubmission.end(), request.came, validated.Duration)
		submissionEnd := endOf(from, talk.toValidator.end(), came, result.Duration)
		return i.finding(validated, asResult(result), validatorEnd.before(submissionEnd)), nil
	}, nil
}

func (i interaction) finding(validated, submission sandbox.Result, validatorFirst bool) grade.Finding {
	finding := grade.OfInteraction(validated, submission, validatorFirst)
	if finding.Verdict == grade.AC || finding.Verdict == grade.WA { // which only the validator gives
		finding = withFeedback(finding, validated)
	}
	return i.validator.blamed(finding, validated)
}

// endSlack is how long after its output a side may end that is taken to have ended with it: what
// lies between the two in a sandbox that is short of CPU time.
const endSlack = 200 * time.Millisecond

// endOf tells when a side of an interaction ended that began to run at from or a little later and ran for as long as ran. Results
// of both sides arrive nearly together, because the end of one is what ends the other, and so in
// any order; but the end of the output of the first is seen here before the other can see it.
// So that counts, unless the side went on without output: then it ended when its result came.
func endOf(from time.Time, closed moment, came time.Time, ran sandbox.Seconds) moment {
	if closed.at.IsZero() || from.Add(ran.Duration()).After(closed.at.Add(endSlack)) {
		return moment{came, math.MaxInt64} // what closed a pipe at that time caused it
	}
	return closed
}

// conversation is the two directions of an interaction.
type conversation struct{ toSubmission, toValidator *pipe }

func newConversation() conversation {
	var order atomic.Int64
	return conversation{newPipe(int(maxTalk), &order), newPipe(int(maxTalk), &order)}
}

// validatorEnded makes the submission see the end and nobody wait for the validator.
func (c conversation) validatorEnded() {
	_ = c.toSubmission.Close()
	c.toValidator.hangUp()
}

func (c conversation) submissionEnded() {
	_ = c.toValidator.Close()
	c.toSubmission.hangUp()
}
