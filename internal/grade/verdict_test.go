package grade_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestTheWorstVerdictIsTheReferencesOrder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verdicts []grade.Verdict
		want     grade.Verdict
	}{
		"nothing at all is accepted":                  {nil, grade.AC},
		"all accepted":                                {[]grade.Verdict{grade.AC, grade.AC}, grade.AC},
		"output limit is worse than wrong answer":     {[]grade.Verdict{grade.WA, grade.OLE, grade.AC}, grade.OLE},
		"time limit is worse than output limit":       {[]grade.Verdict{grade.TLE, grade.OLE}, grade.TLE},
		"memory limit is worse than time limit":       {[]grade.Verdict{grade.TLE, grade.MLE}, grade.MLE},
		"a crash is worse than memory limit":          {[]grade.Verdict{grade.MLE, grade.RE}, grade.RE},
		"our own failure is worse than all":           {[]grade.Verdict{grade.RE, grade.IE, grade.CE}, grade.IE},
		"an unknown test leaves acceptance unknown":   {[]grade.Verdict{grade.AC, grade.NotRun}, grade.NotRun},
		"an unknown test does not undo a rejection":   {[]grade.Verdict{grade.NotRun, grade.WA}, grade.WA},
		"a verdict that nobody knows changes nothing": {[]grade.Verdict{"XX", grade.AC}, grade.AC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, grade.Worst(test.verdicts...))
		})
	}
}

func TestVerdictsAreReadInEveryDialect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]grade.Verdict{
		"AC": grade.AC, "WA": grade.WA, "TLE": grade.TLE, "MLE": grade.MLE, "OLE": grade.OLE,
		"RE": grade.RE, "RTE": grade.RE, "CE": grade.CE, "IE": grade.IE, "JE": grade.IE, "PE": grade.WA,
	} {
		got, err := grade.ParseVerdict(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	_, err := grade.ParseVerdict("ac")
	require.EqualError(t, err, `verdict "ac" is unknown: want one of [AC WA OLE TLE MLE RE CE IE]`)
}

func TestVerdictClasses(t *testing.T) {
	t.Parallel()
	want := map[grade.Verdict]string{
		grade.AC: "AC", grade.WA: "WA", grade.TLE: "TLE", grade.MLE: "RTE", grade.OLE: "RTE", grade.RE: "RTE",
		grade.CE: "", grade.IE: "", grade.NotRun: "",
	}
	for verdict, class := range want {
		require.Equal(t, class, verdict.Class(), verdict.String())
	}
	require.Equal(t, "-", grade.NotRun.String())
	require.False(t, grade.NotRun.Rejects())
	require.False(t, grade.AC.Rejects())
	require.True(t, grade.IE.Rejects())
}

func TestEveryOutcomeHasAVerdict(t *testing.T) {
	t.Parallel()
	want := map[sandbox.Outcome]grade.Verdict{
		sandbox.OutcomeNonzeroExit: grade.RE, sandbox.OutcomeSignaled: grade.RE, sandbox.OutcomeDiskFull: grade.RE,
		sandbox.OutcomePIDsLimit: grade.RE, sandbox.OutcomeWallTimeout: grade.TLE, sandbox.OutcomeCPUTimeout: grade.TLE,
		sandbox.OutcomeOutOfMemory: grade.MLE, sandbox.OutcomeOutputLimit: grade.OLE, sandbox.OutcomeCompileError: grade.CE,
		sandbox.OutcomeCanceled: grade.IE, sandbox.OutcomeRejected: grade.IE, sandbox.OutcomeInfraError: grade.IE,
	}
	for _, outcome := range sandbox.Outcomes() {
		verdict, judged := grade.VerdictOf(outcome, 1)
		require.Equal(t, want[outcome], verdict, outcome)
		require.Equal(t, outcome != sandbox.OutcomeOK, judged, outcome)
		require.Equal(t, outcome == sandbox.OutcomeInfraError, grade.Retryable(outcome), outcome)
	}
	verdict, judged := grade.VerdictOf("from_the_future", 0)
	require.True(t, judged)
	require.Equal(t, grade.IE, verdict)
}

func TestARefusedProcessThatDidNotMatterIsChecked(t *testing.T) {
	t.Parallel()
	_, judged := grade.VerdictOf(sandbox.OutcomePIDsLimit, 0)
	require.False(t, judged)
}

func TestARunExplainsItself(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run     sandbox.Result
		verdict grade.Verdict
		message string
	}{
		"exit code":       {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3}, grade.RE, "exit code 3"},
		"signal":          {sandbox.Result{Outcome: sandbox.OutcomeSignaled, Signal: "SIGSEGV"}, grade.RE, "killed by SIGSEGV"},
		"sandbox's words": {sandbox.Result{Outcome: sandbox.OutcomeCPUTimeout, Message: "CPU time over 2s"}, grade.TLE, "CPU time over 2s"},
		"bare outcome":    {sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory}, grade.MLE, "out_of_memory"},
		"compiler": {sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: &sandbox.Step{
			Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 1,
		}}, grade.CE, "the compiler ended with nonzero_exit, exit code 1"},
		"cut output": {
			sandbox.Result{Outcome: sandbox.OutcomeOK, Stdout: sandbox.Stream{Total: 9000, Truncated: true}},
			grade.OLE, "the output of 9000 bytes is more than was kept",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finding, judged := grade.OfRun(test.run)
			require.True(t, judged)
			require.Equal(t, grade.Finding{Verdict: test.verdict, Message: test.message, Public: test.message}, finding)
		})
	}
	_, judged := grade.OfRun(sandbox.Result{Outcome: sandbox.OutcomeOK})
	require.False(t, judged)
}
