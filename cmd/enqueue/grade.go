package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/submissions"
)

// gradeHelp is what --help says of grade.
const gradeHelp = `grade judges submissions by the tests of a problem package (ICPC and Kattis format, a folder or a
zip archive). Each SUBMISSIONS is a file, which is one submission, or a folder, zip, tar or tar.gz archive:
a file in it is a submission, and so is a folder in it with all that it holds. An archive that
holds one folder and nothing else stands for that folder. With --group-by-folder the folders are groups,
such as teams, and what lies in them are the submissions. Languages are told by the
extensions. A submission that cannot be judged, such as one in a language that is not known or one with
links in it, is a compile error (CE) that says so.

A package without a time limit gets one from its accepted submissions; --time-limit names one.

With --regrade the results of an earlier grading are used: of a submission that is the same, with the same limits,
only tests whose input, answer, flags or checker changed are judged anew, and nothing at all where none did.
Old verdict stands beside new.

Each result is added to the results file as it comes. The same command after an interruption or a crash
goes on where it was. Ctrl-C leaves what is in the queue running, or cancels it with
--cancel-on-interrupt; enqueue batch cancel ends the grading from anywhere, then and later.

Exit codes: 0 when every submission is accepted, 1 when one is not, 2 for a wrong command line, package or
archive, 125 when something could not be judged (IE) or Redis failed, 130 when interrupted or canceled.`

// gradeFlags are what a command line says about grading submissions.
type gradeFlags struct {
	judgingFlags
	grading       gradingFlags
	groupByFolder bool
	regrade       string
}

func newGradeCommand(a *app) *cobra.Command {
	var f gradeFlags
	cmd := &cobra.Command{
		Use: "grade PROBLEM SUBMISSIONS...", Short: "Judge submissions by the tests of a problem package", Long: gradeHelp,
		Example: `  enqueue grade problems/sum homework.zip --html sum.html
  enqueue grade problems/sum teams/ --group-by-folder --csv sum.csv
  enqueue grade problems/sum homework.zip --regrade homework.results.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("want a problem package and at least one file, folder or archive with submissions")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0], args[1:]) },
	}
	flags := cmd.Flags()
	f.add(flags)
	f.grading.add(flags)
	f.grading.addTests(flags)
	flags.BoolVar(&f.groupByFolder, "group-by-folder", false, "take top-level folders for groups of submissions")
	flags.StringVar(&f.regrade, "regrade", "", "`RESULTS` of an earlier grading, of which holds what did not change")
	return cmd
}

// run grades from the package to the reports.
func (f *gradeFlags) run(cmd *cobra.Command, a *app, name string, paths []string) error {
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	mode, errs := f.check()
	if len(errs) > 0 {
		return usageError(errors.Join(errs...))
	}
	path, err := f.resultsPath(paths)
	if err != nil {
		return err
	}
	loaded, closeProblem, err := a.loadProblem(name)
	if err != nil {
		return err
	}
	defer closeProblem()
	grading, err := f.grading.grading(a, s, name, loaded)
	if err != nil {
		return err
	}
	set, err := submissions.Open(paths, submissions.Options{GroupByFolder: f.groupByFolder})
	if err != nil {
		return usageError(err)
	}
	defer func() { _ = set.Close() }()
	if set.Len() == 0 {
		return usagef("%s: there are no submissions", strings.Join(paths, ", "))
	}
	if err := f.inferTime(cmd.Context(), a, s, name, loaded, grading); err != nil {
		return err
	}
	f.reports.title = cmp.Or(f.reports.title, loaded.Name())
	data, suite, err := newSuiteData(grading)
	if err != nil {
		return err
	}
	graded := &gradeBatch{set: set, grading: grading, task: grade.Task{SuiteBlob: suite, Mode: mode, KeepOutput: cmp.Or(f.keepOutput, -1)}}
	if f.regrade != "" {
		old, err := openOldResults(f.regrade)
		if err != nil {
			return usageError(err)
		}
		defer func() { _ = old.file.Close() }()
		graded.regrade = newRegrader(old, &grading.Suite)
	}
	return f.judgeAll(cmd.Context(), a, s, graded, data, path)
}

// judgeAll has judged what has no result yet, and concludes.
func (f *gradeFlags) judgeAll(ctx context.Context, a *app, s *settings, graded *gradeBatch, data *suiteData, path string) error {
	kept, err := f.keep(ctx, graded, path)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	counts, err := f.judge(ctx, a, s, judging{
		entries: graded.entries(ctx), number: graded.set.Len(), kept: kept,
		prepare: func(ctx context.Context, client *jobs.Client, fail context.CancelCauseFunc) error {
			return data.upload(ctx, client, fail)
		},
	})
	if err != nil {
		return err
	}
	if graded.regrade != nil && !f.reports.toStdout() {
		if err := a.printChanges(kept.Items(), graded.regrade.old.unseen()); err != nil {
			return err
		}
	}
	return f.conclude(a, kept, counts)
}

// keep opens the results file. One that is there must be of this batch.
func (f *gradeFlags) keep(ctx context.Context, graded *gradeBatch, path string) (*batch.Results, error) {
	kept, err := batch.OpenResults(path, f.fresh)
	if err != nil {
		return nil, resultsError(err)
	}
	if kept.Counts().Skipped == 0 {
		return kept, nil
	}
	number := 0
	for entry, err := range graded.entries(ctx) {
		if err == nil {
			_, err = kept.Has(number, entry)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, errors.Join(checkError(resultsError(err)), kept.Close())
		}
		number++
	}
	if err := kept.CheckLength(number); err != nil {
		return nil, errors.Join(checkError(resultsError(err)), kept.Close())
	}
	return kept, nil
}

// inferTime judges the package's accepted submissions when nothing tells the time limit.
func (f *gradeFlags) inferTime(ctx context.Context, a *app, s *settings, name string, loaded *problem.Problem, grading *problem.Grading) error {
	if grading.Limits.Time > 0 {
		return nil
	}
	client, closeClient, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer closeClient()
	if err := newProblemCheck(a, client, name, loaded, grading).infer(ctx); exitCode(err) == exitNotOK {
		return usageError(err) // the package is to blame, no submission was judged
	} else if err != nil {
		return err
	}
	say(a.stderr, "%s: the time limit is %v, inferred from its accepted submissions (--time-limit %g keeps it)", name, grading.Limits.Time, grading.Limits.Time.Seconds())
	return nil
}

// archiveExtensions are left out of the name of the results, longer ones first.
var archiveExtensions = []string{".tar.gz", ".tgz", ".tar", ".zip"}

// resultsPath is where the results go: beside the first of the submissions unless the command line says.
func (f *gradeFlags) resultsPath(paths []string) (string, error) {
	path := f.results
	if path == "-" {
		return "", usagef("--results -: want a file, from which the grading can go on")
	}
	if path == "" {
		first, err := filepath.Abs(paths[0])
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(first); err == nil && !info.IsDir() {
			at := slices.IndexFunc(archiveExtensions, func(extension string) bool { return strings.HasSuffix(strings.ToLower(first), extension) })
			if at >= 0 {
				first = first[:len(first)-len(archiveExtensions[at])]
			}
		}
		path = first + ".results.jsonl"
		if f.regrade != "" {
			path = first + ".regraded.jsonl"
		}
	}
	for _, input := range append(slices.Clone(paths), f.regrade) {
		if input != "" && realPath(path) == realPath(input) {
			return "", usagef("--results: %s is read by the same command: want another file", path)
		}
	}
	return path, f.reports.check(path)
}
