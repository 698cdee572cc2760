package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

func TestSummaryIsAsWorkedOutByHand(t *testing.T) {
	t.Parallel()
	summary, err := report.Summarize(seq(homework()...))
	require.NoError(t, err)
	require.Equal(t, report.Summary{
		Items: 5, Verdicts: map[grade.Verdict]int{grade.AC: 2, grade.WA: 2, grade.IE: 1}, Promised: 3, Unexpected: 1,
		Regraded: 2, Changed: 1, Retried: 2, Tests: 5, Passed: 3, Scored: 4, ScoreSum: 225.5,
		// Tests of 10, 20, 10, 30 and 40 ms, and an item of 1500 ms whose tests are not known.
		CPUTime: ms(1610), WallTime: ms(1820), MaxCPUTime: ms(1500), PeakMemory: 16 << 20, First: at(50), Last: at(59),
	}, summary)
	require.InEpsilon(t, 56.375, *summary.MeanScore(), 1e-9)

	var out bytes.Buffer
	require.NoError(t, summary.WriteText(&out))
	require.Equal(t, `  VERDICT  ITEMS   SHARE
       AC      2  40.0 %  accepted
       WA      2  40.0 %  wrong answer
       IE      1  20.0 %  internal error
      all      5        

items             5
accepted          40.0 %
not as promised   1 of 3
internal errors   1
mean score        56.38
verdicts changed  1 of 2
tests passed      3 of 5
CPU time in all   1.61 s
slowest test      1.50 s
most memory       16 MiB
tried again       2
`, out.String())
	text, err := json.Marshal(summary)
	require.NoError(t, err)
	require.Contains(t, string(text), `"verdicts":{"AC":2,"IE":1,"WA":2},"promised":3,"unexpected":1,`)
	require.Contains(t, string(text), `"cpu_seconds":1.61,`)
}

func TestSummaryOfNothing(t *testing.T) {
	t.Parallel()
	summary, err := report.Summarize(seq())
	require.NoError(t, err)
	require.Equal(t, report.Summary{}, summary)
	require.Nil(t, summary.MeanScore())
	var out bytes.Buffer
	require.NoError(t, summary.WriteText(&out))
	require.Contains(t, out.String(), "items  0\n")
}

func TestSummaryEndsAtAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	summary, err := report.Summarize(failing(broken, homework()[:2]...))
	require.ErrorIs(t, err, broken)
	require.Equal(t, 2, summary.Items)
}
