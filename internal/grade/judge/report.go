package judge

import (
	"cmp"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// defaultKeepOutput is what Task.KeepOutput means when it is 0.
	defaultKeepOutput = 2048
	// maxKept is how many bytes of outputs, and how many of messages, a report keeps of all its tests together. As
	// much again is for what JSON adds: a report that is too large to be stored loses all of them.
	maxKept = 12 << 20
)

// keepOf is how many bytes of each stream, and how many of each message, a report keeps on each of so many tests.
func keepOf(asked, tests int) (output, message int) {
	share := maxKept / (2 * tests)
	return min(cmp.Or(asked, defaultKeepOutput), share), share
}

// report is what has become of the submission, as far as its tests were judged.
func (s *submission) report() *grade.Report {
	graded := grade.Grade(s.root, s.findings)
	report := &grade.Report{Verdict: graded.Verdict, Score: graded.Score}
	if s.suite.Root != nil {
		groups := withoutTests(s.root, graded)
		report.Groups = &groups
	}
	for _, test := range s.suite.Tests {
		if judged, found := s.reports[test.Name]; found {
			report.Tests = append(report.Tests, judged)
		}
	}
	decisive := s.decisive(report.Verdict)
	if report.Verdict == grade.NotRun { // judging ended at the first failure
		report.Verdict, report.Score = s.findings[decisive].Verdict, nil
	}
	report.Message = graded.Note
	if decisive != "" {
		report.Message = testMessage(s.reports[decisive])
	}
	return report
}

// decisive names the first test that has the whole's verdict, or that was rejected if the whole has none, if any.
func (s *submission) decisive(whole grade.Verdict) string {
	for _, name := range s.order {
		verdict := s.findings[name].Verdict
		if verdict.Rejects() && (verdict == whole || whole == grade.NotRun) {
			return name
		}
	}
	return ""
}

// withoutTests leaves only groups in the result of a group.
func withoutTests(group *grade.Group, graded grade.Graded) grade.Graded {
	var inner []grade.Graded
	for i, item := range group.Items {
		if item.Group != nil {
			inner = append(inner, withoutTests(item.Group, graded.Items[i]))
		}
	}
	graded.Items = inner
	return graded
}

func (s *submission) testReport(test grade.Test, finding grade.Finding, result sandbox.TestResult) grade.TestReport {
	keep, message := keepOf(s.task.KeepOutput, len(s.suite.Tests))
	finding.Message, finding.Public = shortened(finding.Message, message), shortened(finding.Public, message)
	return grade.TestReport{
		Name: test.Name, Finding: finding, Key: s.suite.Key(test),
		Outcome: result.Outcome, ExitCode: result.ExitCode, Signal: result.Signal,
		CPUTime: result.CPUUser + result.CPUSystem, WallTime: result.Duration, PeakMemory: result.PeakMemory,
		Stdout: kept(result.Stdout, keep), Stderr: kept(result.Stderr, keep),
	}
}

// kept is the head and the tail of a stream, at most keep bytes of it, and nil for nothing.
func kept(stream sandbox.Stream, keep int) *sandbox.Stream {
	if keep < 0 || stream.Total == 0 {
		return nil
	}
	data := stream.Data
	if len(data) > keep {
		cut := len(data) / 2
		if stream.Truncated {
			cut = stream.CutAt
		}
		head, tail := data[:min(keep-keep/2, cut)], data[max(len(data)-keep/2, cut):]
		stream = sandbox.NewStream(head, tail, stream.Total)
	}
	return &stream
}

// shortened is text of at most limit bytes and a mark of what is missing.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// asResult is what the run of a test says, as if it were a program's only run.
func asResult(test sandbox.TestResult) sandbox.Result {
	return sandbox.Result{
		Outcome: test.Outcome, OK: test.OK, ExitCode: test.ExitCode, Signal: test.Signal, TimedOut: test.TimedOut,
		Message: test.Message, Stdout: test.Stdout, Stderr: test.Stderr, Duration: test.Duration,
		CPUUser: test.CPUUser, CPUSystem: test.CPUSystem, PeakMemory: test.PeakMemory, OOMKills: test.OOMKills, PIDsDenied: test.PIDsDenied,
		Files: test.Files, RefusedFiles: test.RefusedFiles,
	}
}
