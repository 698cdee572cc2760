package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestVerdictsOfUnitTests(t *testing.T) {
	t.Parallel()
	exitWith := func(code int, stdout string) sandbox.TestResult { return exited(code, stdout, "") }
	cut := printed("")
	cut.Stdout = sandbox.NewStream([]byte("N {\"passed\":9}\nhead"), []byte("tail\nN {\"passed\":1}\n"), 1_000_000)
	cutInReport := printed("")
	cutInReport.Stdout = sandbox.NewStream([]byte("x\nN "), []byte(`{"passed":1}`), 1_000_000)
	limit := exitWith(-1, `N {"passed":1}`)
	limit.Outcome = sandbox.OutcomeWallTimeout
	crash := exitWith(139, `N {"passed":1}`)
	crash.Outcome, crash.Signal = sandbox.OutcomeSignaled, "SIGSEGV"
	refused := exitWith(1, `N {"passed":1,"failed":["a"]}`)
	refused.Outcome = sandbox.OutcomePIDsLimit
	for name, tt := range map[string]struct {
		result          sandbox.TestResult
		want            grade.Verdict
		message, public string
	}{
		"all passed":                {printed("talk\nN {\"passed\":3}\n"), grade.AC, "", ""},
		"without a line end":        {printed(`N {"passed":3}`), grade.AC, "", ""},
		"some failed":               {exitWith(1, `N {"passed":5,"failed":["a","b"]}`), grade.WA, "2 of 7 unit tests failed: a, b", "2 of 7 unit tests failed"},
		"some failed and exit 0":    {printed(`N {"passed":0,"failed":["a"]}`), grade.WA, "1 of 1 unit tests failed: a", "1 of 1 unit tests failed"},
		"failed and refused":        {refused, grade.WA, "1 of 2 unit tests failed: a", "1 of 2 unit tests failed"},
		"could not run":             {exitWith(2, `N {"passed":0,"error":"no module x"}`), grade.RE, "the unit tests could not be run: no module x", "the unit tests could not be run"},
		"passed and then failed":    {exitWith(3, `N {"passed":2}`), grade.RE, "2 unit tests passed, and then the program failed: exit code 3", "2 unit tests passed, and then the program failed: exit code 3"},
		"nothing ran":               {printed(`N {"passed":0}`), grade.RE, "no unit test was run", "no unit test was run"},
		"no report":                 {printed("hello\n"), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"no report and a crash":     {exitWith(1, ""), grade.RE, "the unit tests ended without a report: exit code 1", "the unit tests ended without a report: exit code 1"},
		"report is not last":        {printed("N {\"passed\":3}\nbye\n"), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"report of another run":     {printed(`M {"passed":3}`), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"report that is no JSON":    {printed(`N {"passed":`), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"a negative count":          {printed(`N {"passed":-1,"failed":["a"]}`), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"much output":               {cut, grade.AC, "", ""},
		"cut in the middle of it":   {cutInReport, grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
		"a limit goes first":        {limit, grade.TLE, "wall_timeout", "wall_timeout"},
		"and so does a signal":      {crash, grade.RE, "killed by SIGSEGV", "killed by SIGSEGV"},
		"the nonce is a whole word": {printed(`Nx {"passed":3}`), grade.RE, "the unit tests ended without a report", "the unit tests ended without a report"},
	} {
		require.Equal(t, grade.Finding{Verdict: tt.want, Message: tt.message, Public: tt.public}, ofUnitTests("N", asResult(tt.result)), name)
	}
}

func TestEachUnitTestRunHasANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	suite := numbered(2)
	suite.Checker.Kind = grade.CheckUnit
	report := b.judged(t, b.program("p", func(test sandbox.Test) sandbox.TestResult {
		return printed(string(test.Stdin) + ` {"passed":1}` + "\n")
	}), grade.Task{Suite: suite})
	require.Equal(t, "1=AC 2=AC ", verdicts(report))
	given := b.runner.given["p"]
	require.Len(t, given[0].Stdin, 26)
	require.NotEqual(t, given[0].Stdin, given[1].Stdin)
	require.NotContains(t, strings.TrimSpace(string(given[0].Stdin)), " ")
}
