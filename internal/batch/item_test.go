package batch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAnItemTellsTheMostOfAnyTestAndWhyItFailed(t *testing.T) {
	t.Parallel()
	score, finished := 40.0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []grade.TestReport{
		{Name: "sample/1", Finding: grade.Finding{Verdict: grade.AC}, CPUTime: sandbox.Seconds(time.Second), WallTime: sandbox.Seconds(9 * time.Second), PeakMemory: 5},
		{Name: "secret/1", Finding: grade.Finding{Verdict: grade.WA, Message: "line 1: want 3\nmore"}, CPUTime: sandbox.Seconds(3 * time.Second), WallTime: sandbox.Seconds(4 * time.Second), PeakMemory: 7},
		{Name: "secret/2", Finding: grade.Finding{Verdict: grade.WA, Message: "second"}, CPUTime: sandbox.Seconds(2 * time.Second), PeakMemory: 6},
	}
	got := fill(report.Item{ID: "a", Expected: []grade.Verdict{grade.AC, grade.TLE}}, true, jobs.Record{
		JobID: "j", FinishedAt: finished, Attempts: make([]jobs.Attempt, 2),
		Result: sandbox.Result{Outcome: sandbox.OutcomeOK, QueueTime: 5, Compile: &sandbox.Step{Duration: 6, Stderr: sandbox.Stream{Data: sandbox.Bytes("warning")}}},
		Grade:  &grade.Report{Verdict: grade.WA, Score: &score, Tests: tests, Groups: &grade.Graded{}},
	})
	require.Equal(t, report.Item{
		ID: "a", JobID: "j", Verdict: grade.WA, Score: &score, Message: "secret/1: line 1: want 3",
		Expected: []grade.Verdict{grade.AC, grade.TLE}, Unexpected: true,
		CPUTime: sandbox.Seconds(3 * time.Second), WallTime: sandbox.Seconds(9 * time.Second), PeakMemory: 7, Slowest: "secret/1",
		Compile: &report.Compile{Duration: 6, Output: "warning"}, Tests: tests, Groups: &grade.Graded{},
		Attempts: 2, QueueTime: 5, FinishedAt: finished,
	}, got)
}

func TestAJobWithoutAReportHasTheVerdictOfItsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result  sandbox.Result
		graded  bool
		verdict grade.Verdict
		message string
	}{
		"a run that ended well":            {sandbox.Result{Outcome: sandbox.OutcomeOK}, false, grade.AC, ""},
		"a run with much output":           {sandbox.Result{Outcome: sandbox.OutcomeOK, Stdout: sandbox.Stream{Truncated: true}}, false, grade.AC, ""},
		"a run that failed":                {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3}, false, grade.RE, "exit code 3"},
		"a run that was too slow":          {sandbox.Result{Outcome: sandbox.OutcomeCPUTimeout, Message: "too\nslow"}, false, grade.TLE, "too"},
		"what does not compile":            {sandbox.Result{Outcome: sandbox.OutcomeCompileError, Message: "no"}, true, grade.CE, "no"},
		"our failure":                      {sandbox.Result{Outcome: sandbox.OutcomeInfraError, Message: "no Docker"}, true, grade.IE, "no Docker"},
		"canceled":                         {sandbox.Result{Outcome: sandbox.OutcomeCanceled, Message: "canceled"}, true, grade.IE, "canceled"},
		"a worker that does not judge yet": {sandbox.Result{Outcome: sandbox.OutcomeOK}, true, grade.IE, "the worker ran the program and did not judge it"},
	} {
		got := fill(report.Item{}, c.graded, jobs.Record{Result: c.result})
		require.Equal(t, c.verdict, got.Verdict, name)
		require.Equal(t, c.message, got.Message, name)
		require.False(t, got.Unexpected, name)
	}
}

func TestWhatACompilerSaidIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 4<<10)
	got := compiled(&sandbox.Step{ExitCode: 1, Stdout: sandbox.Stream{Data: sandbox.Bytes("x" + long)}})
	require.Equal(t, "x"+strings.Repeat("é", 2<<10-1)+"\n[...]", got.Output)
	require.Nil(t, compiled(nil))
}

func TestKeysTellEntriesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	add := func(name string, change func(*Entry)) {
		e := entry(1)
		change(&e)
		require.NotContains(t, seen, e.Key(), name)
		seen[e.Key()] = name
	}
	add("as it is", func(*Entry) {})
	add("id", func(e *Entry) { e.ID = "x" })
	add("source", func(e *Entry) { e.Job.Program.Source = nil })
	add("mode", func(e *Entry) { e.Job.Grade = &grade.Task{Suite: e.Job.Grade.Suite, Mode: grade.Everything} })
	same := entry(1)
	same.Group, same.Expected, same.Job.Program.Reuse = "other", []grade.Verdict{grade.WA}, "batch"
	require.Contains(t, seen, same.Key(), "what says nothing about the judging is not in the key")
	require.Equal(t, ProgramKey(entry(1).Job.Program), ProgramKey(same.Job.Program))
	require.NotEqual(t, ProgramKey(entry(1).Job.Program), ProgramKey(entry(2).Job.Program))
}
