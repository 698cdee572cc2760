package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
)

// judge has submissions judged, and notes what became of each.
func (c *problemCheck) judge(ctx context.Context, all []*checked) error {
	var wanted []*checked
	for _, one := range all {
		if one.program.Language != "" {
			wanted = append(wanted, one)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	data, suite, err := newSuiteData(c.grading)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	shown := newProgress(c.app.stderr, len(wanted))
	defer shown.close()
	_, err = batch.Run(ctx, c.client, entriesOf(wanted, suite), batch.Options{
		Queue:             jobs.Default,
		CancelOnInterrupt: true,
		Prepare:           func(ctx context.Context) error { return data.upload(ctx, c.client, fail) },
		Done: func(item results.Item) error {
			wanted[item.Index].note(item)
			return nil
		},
		Progress: shown.update,
		Notice:   shown.note,
	})
	return err
}

func entriesOf(wanted []*checked, suite string) iter.Seq2[batch.Entry, error] {
	return func(yield func(batch.Entry, error) bool) {
		for _, one := range wanted {
			mode := grade.AsNeeded
			if one.submission.BindsTests() {
				mode = grade.Everything
			}
			entry := batch.Entry{
				ID: one.submission.Path, Group: one.submission.Folder,
				Job: jobs.Job{Program: one.program, Grade: &grade.Task{SuiteBlob: suite, Mode: mode}},
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// note keeps what became of the submission.
func (one *checked) note(item results.Item) {
	one.item = item
	one.judged = problem.Judged{
		Submission: one.submission, Language: item.Language, Verdict: item.Verdict, Message: item.Message, Tests: item.Tests,
	}
}

// ours tells that our own machinery failed, and not the package or its validator.
func (one *checked) ours() bool {
	if one.judged.Verdict != grade.IE {
		return false
	}
	for _, test := range one.judged.Tests {
		if test.Verdict == grade.IE {
			return false
		}
	}
	return one.program.Language != ""
}

// reported is the submission's item as it is shown beside what was promised.
func (one *checked) reported(index int) results.Item {
	item := one.item
	item.Index, item.ID, item.Group, item.Language = index, one.submission.Path, one.submission.Folder, one.program.Language
	item.Verdict, item.Score, item.Message = one.outcome.Result.Verdict, one.outcome.Result.Score, one.message()
	item.Expected = one.submission.Expect.Verdicts()
	item.Unexpected = len(one.violations) > 0
	return item
}

// message says first what was promised and did not come true.
func (one *checked) message() string {
	if len(one.violations) > 0 {
		return fmt.Sprint(one.violations[0], why(one.judged.Message))
	}
	return one.judged.Message
}

func why(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
