package problem

import (
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
)

// Submission is an example submission of the package.
type Submission struct {
	Program
	// Folder is the one of submissions/ that it lies in, such as wrong_answer.
	Folder string
	// Expect is what the package promises of it.
	Expect Expectation
	// BoundsBelow and BoundsAbove tell that its times must be below and above the time limit.
	BoundsBelow, BoundsAbove bool
}

const submissionsFile = "submissions/submissions.yaml"

// readSubmissions reads submissions/ with what folders, submissions.yaml and annotations promise.
func (f *folder) readSubmissions(meta Metadata, root *grade.Group) []Submission {
	var settings []submissionSettings
	folders := currentFolders()
	if !meta.Legacy() {
		settings = f.readSubmissionsYAML(folders, meta)
	}
	var submissions []Submission
	for _, outer := range f.list("submissions") {
		if !outer.folder {
			if outer.path != submissionsFile || meta.Legacy() {
				f.report.warnf(outer.path, 0, "is ignored: want submissions in folders such as accepted")
			}
			continue
		}
		for _, item := range f.list(outer.path) {
			program, usable := f.program(item)
			if !usable {
				continue
			}
			submission := Submission{Program: program, Folder: outer.name}
			if meta.Legacy() {
				submission.Expect = legacyExpectation(outer.name, meta, root)
			} else if rule, known := folders[outer.name]; known {
				submission.Expect.Rules = append(submission.Expect.Rules, rule)
			}
			applySettings(&submission, settings)
			f.annotate(&submission, meta)
			submission.bounds()
			submissions = append(submissions, submission)
		}
	}
	if !slices.ContainsFunc(submissions, func(s Submission) bool { return s.Folder == "accepted" }) {
		f.report.warnf("submissions", 0, "holds no accepted submission: the format wants one")
	}
	return submissions
}

// bounds derives from the rules which side of the time limit the submission bounds.
func (s *Submission) bounds() {
	for _, rule := range s.Expect.Rules {
		s.BoundsBelow = s.BoundsBelow || rule.UseForLower
		s.BoundsAbove = s.BoundsAbove || rule.UseForUpper
	}
}

// annotate adds what the sources promise of themselves.
func (f *folder) annotate(submission *Submission, meta Metadata) {
	var found *annotation
	for _, file := range submission.Files {
		source, ok := f.read(file.Source, maxSourceBytes)
		if !ok {
			continue
		}
		parsed, err := parseAnnotation(source)
		if err == nil && parsed != nil && found != nil {
			f.report.errorf(file.Source, 0, "has an annotation and another file of the submission too")
			continue
		}
		if err != nil {
			f.report.errorf(file.Source, 0, "%v", err)
			continue
		}
		if parsed != nil {
			found = parsed
		}
	}
	f.applyAnnotation(submission, found, meta)
	if submission.Expect.Empty() {
		f.report.warnf(submission.Path, 0, "lies in a folder that promises no verdict and has no annotation: want accepted, wrong_answer, time_limit_exceeded, run_time_error or @EXPECTED_RESULTS@:")
	}
}

func (f *folder) applyAnnotation(submission *Submission, found *annotation, meta Metadata) {
	byFolder, folderPromises := resultVerdicts(submission.Folder)
	if found == nil {
		if folderPromises && submission.Expect.Empty() {
			submission.Expect.Final = byFolder
		}
		return
	}
	if found.score != nil {
		if !meta.Scoring {
			f.report.errorf(submission.Path, 0, "is annotated with a score: want type scoring in problem.yaml")
		}
		submission.Expect.Rules = append(submission.Expect.Rules, ExpectationRule{Low: found.score, High: found.score})
		return
	}
	switch {
	case !folderPromises:
		submission.Expect.Final = found.verdicts
	case !slices.ContainsFunc(found.verdicts, func(verdict grade.Verdict) bool { return slices.Contains(byFolder, verdict) }):
		f.report.errorf(submission.Path, 0, "is annotated with %s and lies in %s", joinVerdicts(found.verdicts), submission.Folder)
	case submission.Expect.Empty():
		submission.Expect.Final = byFolder
	}
}

// legacyExpectation is what a folder of a legacy package promises: a verdict of the whole,
// and as advice what the format says of single tests.
func legacyExpectation(name string, meta Metadata, root *grade.Group) Expectation {
	advice := func(classes ...string) ExpectationRule { return ExpectationRule{Permitted: classes, Advice: true} }
	switch name {
	case "accepted":
		rule := advice("AC")
		rule.UseForLower = true
		return Expectation{Final: []grade.Verdict{grade.AC}, Rules: []ExpectationRule{rule}}
	case "partially_accepted":
		expect := Expectation{Final: []grade.Verdict{grade.AC}}
		if rule, ok := notBest(meta, root); ok {
			expect.Rules = append(expect.Rules, rule)
		}
		return expect
	case "wrong_answer":
		return Expectation{Final: []grade.Verdict{grade.WA}, Rules: []ExpectationRule{advice("AC", "WA")}}
	case "time_limit_exceeded":
		rule := advice("AC", "WA", "TLE")
		rule.UseForUpper = true
		return Expectation{Final: []grade.Verdict{grade.TLE}, Rules: []ExpectationRule{rule}}
	case "run_time_error":
		return Expectation{Final: []grade.Verdict{grade.RE, grade.MLE, grade.OLE}}
	}
	return Expectation{}
}

// notBest is the rule that a score is not the best of the range.
func notBest(meta Metadata, root *grade.Group) (ExpectationRule, bool) {
	rule, isLegacy := root.Rule.(grade.LegacyRule)
	if !isLegacy || !meta.Scoring {
		return ExpectationRule{}, false
	}
	low, high := rule.Min, rule.Max
	if meta.Minimize {
		low += 0.01
	} else {
		high -= 0.01
	}
	return ExpectationRule{Low: &low, High: &high}, true
}
