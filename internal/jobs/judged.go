package jobs

import (
	"context"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Judge judges submissions. It is called from many goroutines.
type Judge interface {
	// Judge runs a program on the tests of a task and reports on it; all that goes wrong with
	// the submission or the tests is a report. An error means that our own machinery failed and that the job may run
	// again, unless it is [ErrNoBlob]. When ctx ends, Judge does as Runner.Run does.
	Judge(ctx context.Context, program sandbox.Program, task grade.Task) (sandbox.Result, *grade.Report, error)
}

// judge has a submission judged. What this worker cannot judge is a result at once, since the
// next attempt would end the same way.
func (w *Worker) judge(ctx context.Context, program sandbox.Program, task grade.Task) (e ending, err error) {
	if w.options.Judge == nil {
		return ending{Result: ourResult(sandbox.OutcomeRejected, "grade: this worker judges no submissions: want a worker that has a judge")}, nil
	}
	err = w.safely(ctx, "judge", program.ID, func() (err error) {
		e.Result, e.Grade, err = w.options.Judge.Judge(ctx, program, task)
		return err
	})
	return e, err
}

// unjudged is the report on a job that was to be judged and that nobody judged, or nil if
// that is what was wanted: then it was canceled.
func unjudged(result sandbox.Result) *grade.Report {
	if result.Outcome == sandbox.OutcomeCanceled {
		return nil
	}
	return &grade.Report{Verdict: grade.IE, Message: result.Message}
}

// maxReport is the size in bytes of JSON up to which a report keeps what the tests wrote.
const maxReport = 32 << 20

// withoutOutputs is the report without what submission and checkers wrote on single tests.
func withoutOutputs(report grade.Report) *grade.Report {
	tests := make([]grade.TestReport, len(report.Tests))
	for i, test := range report.Tests {
		test.Stdout, test.Stderr, test.Message, test.Public = nil, nil, "", ""
		tests[i] = test
	}
	report.Tests = tests
	if report.Message == "" {
		report.Message = fmt.Sprintf("outputs and messages of the tests are not kept, since all of them are more than %d bytes", maxReport)
	}
	return &report
}
