package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// submission is one program that is being judged, in one goroutine.
type submission struct {
	*Judge
	program sandbox.Program
	suite   *grade.Suite
	task    grade.Task
	checker checker

	// root is the tree of groups, also for a suite that has none, and order the names of its tests as they are judged.
	root     *grade.Group
	order    []string
	tests    map[string]grade.Test
	findings map[string]grade.Finding
	reports  map[string]grade.TestReport
	// queue are the tests to judge next, unless stale tells that a finding may have changed that.
	queue []string
	stale bool

	// running is the name of the test that the submission runs, and check judges that run.
	running string
	check   check
	// err is why judging ended early.
	err error
}

// checker judges the runs of a submission.
type checker interface {
	// start is called before a test is given to the submission, and may change it.
	start(ctx context.Context, test grade.Test, given *sandbox.Test) (check, error)
}

// check judges one run. An error means that our own machinery failed.
type check func(ctx context.Context, result sandbox.TestResult) (grade.Finding, error)

func newSubmission(j *Judge, program sandbox.Program, suite *grade.Suite, task grade.Task) *submission {
	s := &submission{
		Judge: j, program: program, suite: suite, task: task, root: rootOf(suite),
		tests: map[string]grade.Test{}, findings: map[string]grade.Finding{}, reports: map[string]grade.TestReport{},
		stale: true,
	}
	s.order = s.root.Tests()
	for _, test := range suite.Tests {
		s.tests[test.Name] = test
		if known, found := task.Known[test.Name]; found {
			s.findings[test.Name], s.reports[test.Name] = known.Finding, known
		}
	}
	switch suite.Checker.Kind {
	case grade.CheckUnit:
		s.checker = unitTests{}
	case grade.CheckValidator:
		s.checker = validators{j, j.checkProgramsOf(suite, program.Tenant)}
	case grade.CheckTestlib:
		s.checker = testlibCheckers{j, j.checkProgramsOf(suite, program.Tenant)}
	case grade.CheckInteractive:
		s.program = j.boundTalk(program)
		validator := j.checkProgramsOf(suite, program.Tenant)[0]
		validator.bind(j.boundTalk(validator.program))
		s.checker = interaction{j, validator, s.program.Limits}
	case grade.CheckTokens, grade.CheckExact, grade.CheckText, grade.CheckNone, "":
		s.checker = comparison{j, suite.Checker.Kind}
	}
	return s
}

// judge runs the submission on the tests that its verdict depends on.
func (s *submission) judge(ctx context.Context) (sandbox.Result, *grade.Report, error) {
	if _, more := s.choose(); !more { // everything is known
		return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true}, s.report(), nil
	}
	result, err := s.options.Runner.RunTests(ctx, s.program, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		test, more, err := s.next(ctx, previous)
		s.err = err
		return test, more && err == nil
	})
	if err := errors.Join(s.err, err); err != nil {
		return failed(ctx, err)
	}
	switch result.Outcome {
	case sandbox.OutcomeOK:
		return result, s.report(), nil
	case sandbox.OutcomeCompileError:
		return result, &grade.Report{Verdict: grade.CE, Message: compilerMessage(result)}, nil
	case sandbox.OutcomeRejected:
		report := s.report()
		report.Verdict, report.Score, report.Message = grade.IE, nil, oneLine(result.Message)
		return result, report, nil
	case sandbox.OutcomeCanceled:
		return result, nil, nil
	default:
		return failed(ctx, fmt.Errorf("the runner ended a series of tests with the outcome %s: %s", result.Outcome, result.Message))
	}
}

// next judges what became of the test before and gives the next one.
func (s *submission) next(ctx context.Context, previous *sandbox.TestResult) (sandbox.Test, bool, error) {
	if previous != nil {
		if err := s.settle(ctx, *previous); err != nil {
			return sandbox.Test{}, false, fmt.Errorf("check test %q: %w", s.running, err)
		}
	}
	if ctx.Err() != nil {
		return sandbox.Test{}, false, context.Cause(ctx)
	}
	name, more := s.choose()
	if !more {
		return sandbox.Test{}, false, nil
	}
	given, err := s.start(ctx, s.tests[name])
	if err != nil {
		return sandbox.Test{}, false, fmt.Errorf("start test %q: %w", name, err)
	}
	return given, true, nil
}

// start makes what the submission is given for a test.
func (s *submission) start(ctx context.Context, test grade.Test) (sandbox.Test, error) {
	given := sandbox.Test{ID: test.Name, Args: test.Args, WallTime: test.WallTime, CPUTime: test.CPUTime}
	input, err := s.load(ctx, test.Input)
	if err != nil {
		return given, fmt.Errorf("get input: %w", err)
	}
	given.Stdin = input
	for _, file := range test.Files {
		content, err := s.load(ctx, file.Data)
		if err != nil {
			return given, fmt.Errorf("get file %q: %w", file.Path, err)
		}
		given.Files = append(given.Files, sandbox.File{Path: file.Path, Data: content})
	}
	s.running = test.Name
	s.check, err = s.checker.start(ctx, test, &given)
	return given, err
}

// settle notes what became of the running test.
func (s *submission) settle(ctx context.Context, result sandbox.TestResult) error {
	finding, err := s.check(ctx, result)
	s.check = nil // and with it the test's data
	if err != nil {
		return err
	}
	s.findings[s.running] = finding
	s.stale = s.stale || s.changes(finding.Verdict)
	s.reports[s.running] = s.testReport(s.tests[s.running], finding, result)
	return nil
}
