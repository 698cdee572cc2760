package judge

import (
	"context"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// comparison compares outputs with answers, in this process.
type comparison struct {
	judge *Judge
	kind  grade.CheckerKind
}

func (c comparison) start(_ context.Context, test grade.Test, _ *sandbox.Test) (check, error) {
	return func(ctx context.Context, result sandbox.TestResult) (grade.Finding, error) {
		if c.kind == grade.CheckNone {
			result.Stdout.Truncated = false // nobody reads it
		}
		if finding, done := grade.OfRun(asResult(result)); done {
			return finding, nil
		}
		if c.kind == grade.CheckNone {
			return grade.Finding{Verdict: grade.AC}, nil
		}
		answer, err := c.judge.load(ctx, test.Answer)
		if err != nil {
			return grade.Finding{}, fmt.Errorf("get answer: %w", err)
		}
		switch c.kind {
		case grade.CheckExact:
			return grade.Exact(answer, result.Stdout.Data), nil
		case grade.CheckText:
			return grade.Text(answer, result.Stdout.Data), nil
		default:
			return grade.Tokens(test.Tokens, answer, result.Stdout.Data), nil
		}
	}, nil
}
