package judge

import (
	"context"
	"fmt"
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// validators judges with output validators, all of which must accept.
type validators struct {
	judge    *Judge
	programs []checkProgram
}

func (v validators) start(_ context.Context, test grade.Test, given *sandbox.Test) (check, error) {
	input := given.Stdin
	return func(ctx context.Context, result sandbox.TestResult) (grade.Finding, error) {
		if finding, done := grade.OfRun(asResult(result)); done {
			return finding, nil
		}
		answer, err := v.judge.load(ctx, test.Answer)
		if err != nil {
			return grade.Finding{}, fmt.Errorf("get answer: %w", err)
		}
		request := validatorTest(test, input, answer)
		request.Stdin = result.Stdout.Data
		return unanimous(v.programs, func(p checkProgram) (grade.Finding, error) {
			run, err := v.judge.sessions.ask(ctx, p, request)
			return p.blamed(withFeedback(grade.OfValidator(run), run), run), err
		})
	}, nil
}

// unanimous asks one program after the other until one does not accept. What the last says counts,
// and a score of an earlier one if it gave none.
func unanimous(programs []checkProgram, ask func(checkProgram) (grade.Finding, error)) (grade.Finding, error) {
	var joined grade.Finding
	for _, p := range programs {
		finding, err := ask(p)
		if err != nil {
			return grade.Finding{}, fmt.Errorf("%s: %w", p.name, err)
		}
		if finding.Verdict != grade.AC {
			return finding, nil
		}
		if finding.Score == nil && finding.Multiplier == nil {
			finding.Score, finding.Multiplier = joined.Score, joined.Multiplier
		}
		joined = finding
	}
	return joined, nil
}

// feedbackFiles are those that mean something, the ones first that change a verdict.
var feedbackFiles = []string{"score.txt", "score_multiplier.txt", "nextpass.in", "judgemessage.txt", "teammessage.txt"}

// validatorTest is a request to an output validator, without the output.
func validatorTest(test grade.Test, input, answer []byte) sandbox.Test {
	request := sandbox.Test{
		ID:    test.Name,
		Args:  slices.Concat([]string{workspace + inputFile, workspace + answerFile, workspace + feedbackDir}, test.ValidatorFlags),
		Files: append(testFiles(input, answer), sandbox.File{Path: feedbackDir}),
	}
	for _, name := range feedbackFiles {
		request.Outputs = append(request.Outputs, feedbackDir+name)
	}
	return request
}

// withFeedback adds what a validator wrote to its feedback folder. A file that decides and
// could not be taken makes the finding IE, and so does the wish for another pass, which nobody runs.
func withFeedback(finding grade.Finding, run sandbox.Result) grade.Finding {
	var feedback grade.Feedback
	for name, content := range map[string]*[]byte{
		"score.txt": &feedback.Score, "score_multiplier.txt": &feedback.Multiplier, "nextpass.in": &feedback.NextPass,
		"judgemessage.txt": &feedback.JudgeMessage, "teammessage.txt": &feedback.TeamMessage,
	} {
		for _, file := range run.Files {
			if file.Path == feedbackDir+name {
				*content = append([]byte{}, file.Data...) // an empty file is there, too
			}
		}
	}
	finding = finding.WithFeedback(feedback)
	if finding.Verdict == grade.IE {
		return finding
	}
	for _, refused := range run.RefusedFiles {
		for _, name := range feedbackFiles[:3] {
			if refused.Path == feedbackDir+name {
				return internalError("the output validator's %s could not be taken: %s", name, refused.Reason)
			}
		}
	}
	if feedback.NextPass != nil {
		return internalError("the output validator wrote nextpass.in: problems of several passes are not judged here")
	}
	return finding
}

func internalError(format string, args ...any) grade.Finding {
	return grade.Finding{Verdict: grade.IE, Message: fmt.Sprintf(format, args...), Public: "internal error"}
}
