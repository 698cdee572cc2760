package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// checkFlags are the flags of problem check.
type checkFlags struct {
	grading gradingFlags
	files   reportFiles
	asJSON  bool
}

func newProblemCheckCommand(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use: "check PACKAGE [flags]", Short: "Judge a package's own submissions and say which do not get what is promised",
		Long: `check judges all submissions of a problem package and compares what they get with what their folder, their
annotation (@EXPECTED_RESULTS@:) or submissions.yaml promises. A package without a time limit gets one from its
accepted submissions: the format's factor times the slowest of them. Times near the limit are warned of.

Exit codes: 0 when every submission gets what is promised, 1 when one does not, 2 for a bad command line or a package
that cannot be used, 125 when the judging itself failed.`,
		Example: `  enqueue problem check examples/problems/sum
  enqueue problem check sum.zip --time-limit 2 --json
  enqueue problem check sum --junit sum.xml --html sum.html`,
		Args: onePackage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.files.check(args[0]); err != nil {
				return err
			}
			s, err := a.settings(cmd)
			if err != nil {
				return err
			}
			loaded, closeProblem, err := a.loadProblem(args[0])
			if err != nil {
				return err
			}
			defer closeProblem()
			grading, err := f.grading.grading(a, s, args[0], loaded)
			if err != nil {
				return err
			}
			client, closeClient, err := s.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient()
			check := newProblemCheck(a, client, args[0], loaded, grading)
			if err := check.run(cmd.Context()); err != nil {
				return err
			}
			return f.show(check)
		},
	}
	f.grading.add(cmd.Flags())
	f.files.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object instead of a table")
	return cmd
}

// problemCheck judges the submissions of a package.
type problemCheck struct {
	app     *app
	client  *jobs.Client
	name    string
	problem *problem.Problem
	grading *problem.Grading
	// inferred tells that the time limit comes from the submissions.
	inferred bool
	checked  []*checked
}

// checked is a submission of the package on its way to a verdict.
type checked struct {
	submission problem.Submission
	program    sandbox.Program
	// limit is the CPU time on a test above which it is too slow, if it was given more than that; 0 if not.
	limit  time.Duration
	judged problem.Judged
	item   results.Item

	outcome              problem.Outcome
	violations, warnings []string
}

// inferenceTime is the CPU time on a test that submissions have while no limit is known.
const inferenceTime = 30 * time.Second

// tooSlowSlack is how much more than what must be too slow such a submission is given, so
// that it is seen to take that long.
const tooSlowSlack = 1.1

func newProblemCheck(a *app, client *jobs.Client, name string, loaded *problem.Problem, grading *problem.Grading) *problemCheck {
	c := &problemCheck{app: a, client: client, name: name, problem: loaded, grading: grading}
	for _, submission := range loaded.Submissions {
		c.checked = append(c.checked, &checked{submission: submission})
	}
	return c
}

// run judges all submissions: first those from which the time limit comes when there is none, then the others.
func (c *problemCheck) run(ctx context.Context) error {
	if len(c.checked) == 0 {
		return usagef("%s: submissions: holds none: there is nothing to check", c.name)
	}
	if c.grading.Limits.Time == 0 {
		if err := c.infer(ctx); err != nil {
			return err
		}
	}
	c.limitAll()
	left := slices.DeleteFunc(slices.Clone(c.checked), func(one *checked) bool { return one.judged.Verdict != grade.NotRun })
	if err := c.judge(ctx, left); err != nil {
		return err
	}
	for _, one := range c.checked {
		one.compare(c.grading.Suite.Root)
	}
	return nil
}

// infer finds the time limit by judging the submissions that lie below it.
func (c *problemCheck) infer(ctx context.Context) error {
	bounding := slices.DeleteFunc(slices.Clone(c.checked), func(one *checked) bool { return !one.submission.BoundsBelow })
	if len(bounding) == 0 {
		return usagef("%s: gives no time limit and has no accepted submission to infer it from: name one with --time-limit", c.name)
	}
	c.grading.Limits.Time = inferenceTime
	for _, one := range bounding {
		c.prepare(one)
	}
	if err := c.judge(ctx, bounding); err != nil {
		return err
	}
	var judged []problem.Judged
	for _, one := range bounding {
		judged = append(judged, one.judged)
	}
	if err := c.grading.Infer(judged, inferenceTime); err != nil {
		for _, one := range bounding {
			err = errors.Join(err, fmt.Errorf("%s: %s %s", one.submission.Path, one.judged.Verdict, one.judged.Message))
		}
		code := exitNotOK
		if slices.ContainsFunc(bounding, (*checked).ours) {
			code = exitFailure
		}
		return exitWith(code, fmt.Errorf("%s: %w", c.name, err))
	}
	c.inferred = true
	return nil
}

// limitAll makes the programs that were not judged yet, and gives those that must be too slow the time to be it.
func (c *problemCheck) limitAll() {
	for _, one := range c.checked {
		if one.judged.Verdict != grade.NotRun { // it was given inferenceTime
			one.limit = c.grading.TimeLimit(one.program.Language)
			continue
		}
		c.prepare(one)
		limit := c.grading.TimeLimit(one.program.Language)
		if one.submission.BoundsAbove && one.program.Language != "" {
			one.limit = limit
			given := time.Duration(float64(limit) * c.grading.Limits.LimitToTLE * tooSlowSlack)
			one.program.Limits = c.grading.TimeLimits(one.program.Limits, given)
		}
	}
}

// prepare makes the program of a submission; what is wrong with it is its verdict.
func (c *problemCheck) prepare(one *checked) {
	program, err := c.grading.Own(one.submission)
	if err != nil {
		one.judged = problem.Judged{Submission: one.submission, Verdict: grade.CE, Message: "cannot be judged: " + err.Error()}
		return
	}
	one.program = program
}

// compare tells what was promised and did not come true.
func (one *checked) compare(root *grade.Group) {
	one.outcome = one.judged.Outcome(root, one.limit)
	one.violations, one.warnings = one.submission.Expect.CheckJudged(one.outcome)
	if one.program.Language == "" {
		one.violations = []string{one.judged.Message}
	}
}
