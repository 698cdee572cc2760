package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// checkReport is what problem check says in JSON.
type checkReport struct {
	Problem   string          `json:"problem"`
	TimeLimit sandbox.Seconds `json:"time_limit_seconds"`
	// Inferred tells that the time limit comes from the accepted submissions.
	Inferred bool `json:"time_limit_inferred"`
	// OK tells that all submissions get what is promised.
	OK          bool             `json:"ok"`
	Warnings    []string         `json:"warnings,omitempty"`
	Submissions []submissionLine `json:"submissions"`
}

// submissionLine is a submission of the report.
type submissionLine struct {
	Path     string        `json:"path"`
	Language string        `json:"language"`
	Promised string        `json:"promised"`
	Verdict  grade.Verdict `json:"verdict"`
	Score    *float64      `json:"score,omitempty"`
	OK       bool          `json:"ok"`
	// Test is the first one that has the verdict, when that is not AC, and Message what is said of it.
	Test    string `json:"test,omitempty"`
	Message string `json:"message,omitempty"`
	// CPUTime is the most of any test, which is Slowest.
	CPUTime    sandbox.Seconds `json:"cpu_seconds"`
	Slowest    string          `json:"slowest,omitempty"`
	Violations []string        `json:"violations,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
}

// show prints what was found, and returns the error with the exit code.
func (f *checkFlags) show(c *problemCheck) error {
	found := c.report()
	if f.asJSON {
		if err := c.app.printJSON(found); err != nil {
			return err
		}
	} else if err := asOutput(found.print(c.app.stdout)); err != nil {
		return err
	}
	items := make([]results.Item, len(c.checked))
	for i, one := range c.checked {
		items[i] = one.reported(i)
	}
	f.files.title = cmp.Or(f.files.title, c.problem.Name())
	if err := f.files.write(c.app.stdout, sequence(items)); err != nil {
		return err
	}
	return c.verdict()
}

func (c *problemCheck) verdict() error {
	failures, broken := 0, 0
	for _, one := range c.checked {
		if one.ours() {
			failures++
		} else if len(one.violations) > 0 {
			broken++
		}
	}
	switch {
	case failures > 0:
		return exitWith(exitFailure, fmt.Errorf("%d of %d submissions could not be judged", failures, len(c.checked)))
	case broken > 0:
		return exitWith(exitNotOK, fmt.Errorf("%d of %d submissions do not get what is promised", broken, len(c.checked)))
	}
	return nil
}

func (c *problemCheck) report() checkReport {
	found := checkReport{Problem: c.problem.ShortName, TimeLimit: sandbox.Seconds(c.grading.Limits.Time), Inferred: c.inferred, OK: true}
	var timing problem.Timing
	for _, one := range c.checked {
		timing = c.grading.Add(timing, one.judged)
		line := one.line(c.grading.Suite.Root)
		found.OK = found.OK && line.OK
		found.Submissions = append(found.Submissions, line)
	}
	if err := c.grading.Limits.CheckTime(c.grading.Limits.Time, timing.SlowestAccepted, timing.FastestTooSlow); err != nil {
		found.Warnings = append(found.Warnings, err.Error())
	}
	return found
}

func (one *checked) line(root *grade.Group) submissionLine {
	line := submissionLine{
		Path: one.submission.Path, Language: one.program.Language, Promised: one.submission.Expect.String(),
		Verdict: one.outcome.Result.Verdict, Score: one.outcome.Result.Score, OK: len(one.violations) == 0 && !one.ours(),
		Test: one.outcome.Decisive(root), Message: one.judged.Message, CPUTime: one.item.CPUTime, Slowest: one.item.Slowest,
		Violations: one.violations, Warnings: one.warnings,
	}
	if line.Test != "" {
		line.Message = one.outcome.Findings[line.Test].Message
	}
	return line
}

// print writes a table, and below it what is wrong.
func (r checkReport) print(w io.Writer) error {
	limit := shortTime(r.TimeLimit.Duration())
	if r.Inferred {
		limit += ", inferred"
	}
	_, _ = fmt.Fprintf(w, "%s: time limit %s\n\n", printable(r.Problem), limit)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\tSUBMISSION\tPROMISED\tGOT\tCPU TIME\tTEST")
	for _, line := range r.Submissions {
		mark := "ok"
		if !line.OK {
			mark = "NO"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", mark, printable(strings.TrimPrefix(line.Path, "submissions/")), printable(line.Promised),
			line.got(), shortTime(line.CPUTime.Duration()), printable(line.decidedBy()))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return r.printDetails(w)
}

func (r checkReport) printDetails(w io.Writer) error {
	var lines []string
	for _, line := range r.Submissions {
		for _, violation := range line.Violations {
			lines = append(lines, fmt.Sprintf("%s: %s", line.Path, violation))
		}
		if len(line.Violations) > 0 && line.Message != "" {
			lines = append(lines, fmt.Sprintf("  %s", line.Message))
		}
		for _, warning := range line.Warnings {
			lines = append(lines, fmt.Sprintf("%s: warning: %s", line.Path, warning))
		}
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	for i, line := range lines {
		if i == 0 {
			line = "\n" + printable(line)
		} else {
			line = printable(line)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// got is the verdict with the score, if there is one.
func (l submissionLine) got() string {
	if l.Score == nil {
		return l.Verdict.String()
	}
	return fmt.Sprintf("%s %g", l.Verdict, *l.Score)
}

func (l submissionLine) decidedBy() string {
	if l.Test == "" {
		return "-"
	}
	return l.Test
}

// shortTime writes a time as people compare them.
func shortTime(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
