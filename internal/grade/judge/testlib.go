package judge

import (
	"context"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// testlibCheckers judges with testlib checkers, all of which must accept.
type testlibCheckers struct {
	judge    *Judge
	programs []checkProgram
}

func (c testlibCheckers) start(_ context.Context, test grade.Test, given *sandbox.Test) (check, error) {
	input := given.Stdin
	return func(ctx context.Context, result sandbox.TestResult) (grade.Finding, error) {
		if finding, done := grade.OfRun(asResult(result)); done {
			return finding, nil
		}
		answer, err := c.judge.load(ctx, test.Answer)
		if err != nil {
			return grade.Finding{}, fmt.Errorf("get answer: %w", err)
		}
		request := sandbox.Test{
			ID:    test.Name,
			Args:  []string{workspace + inputFile, workspace + outputFile, workspace + answerFile},
			Files: append(testFiles(input, answer), sandbox.File{Path: outputFile, Data: result.Stdout.Data}),
		}
		return unanimous(c.programs, func(p checkProgram) (grade.Finding, error) {
			run, err := c.judge.sessions.ask(ctx, p, request)
			return p.blamed(grade.OfTestlib(run), run), err
		})
	}, nil
}
