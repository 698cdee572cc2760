package main

import (
	"context"
	"iter"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/submissions"
)

// gradeBatch are the submissions to a problem as a batch.
type gradeBatch struct {
	set     *submissions.Set
	grading *problem.Grading
	task    grade.Task
	// regrade is nil when nothing was graded before.
	regrade *regrader
}

// entries reads the submissions, each time in the same order.
func (g *gradeBatch) entries(ctx context.Context) iter.Seq2[batch.Entry, error] {
	return func(yield func(batch.Entry, error) bool) {
		for submission, err := range g.set.All() {
			var entry batch.Entry
			if err == nil {
				entry, err = g.entry(ctx, submission)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

func (g *gradeBatch) entry(ctx context.Context, submission submissions.Submission) (batch.Entry, error) {
	entry := batch.Entry{ID: submission.ID, Group: submission.Group}
	reason := submission.Problem
	if reason == "" {
		program, err := g.grading.Program(problem.NewProgram(submission.ID, submission.Files), submission.Files)
		if err != nil {
			reason = err.Error()
		}
		task := g.task
		entry.Job = jobs.Job{Program: program, Grade: &task}
	}
	if reason != "" {
		entry = rejected(entry, submission, reason)
	}
	if g.regrade != nil {
		if err := g.regrade.apply(ctx, &entry); err != nil {
			return batch.Entry{}, err
		}
	}
	return entry, nil
}

// rejected is the entry of a submission that cannot be run. That is the submission's own fault, as if a
// compiler had refused it.
func rejected(entry batch.Entry, submission submissions.Submission, reason string) batch.Entry {
	entry.Job = jobs.Job{Program: sandbox.Program{Files: submission.Files}} // for the key
	entry.Result = &results.Item{Verdict: grade.CE, Message: "rejected: " + reason}
	return entry
}
