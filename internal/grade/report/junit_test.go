package report_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// junitFile is what a CI system reads.
type junitFile struct {
	XMLName xml.Name `xml:"testsuites"`
	junitHead
	Suites []struct {
		junitHead
		Skipped   int    `xml:"skipped,attr"`
		Timestamp string `xml:"timestamp,attr"`
		Cases     []struct {
			Name      string        `xml:"name,attr"`
			ClassName string        `xml:"classname,attr"`
			Time      float64       `xml:"time,attr"`
			Skipped   *junitProblem `xml:"skipped"`
			Failure   *junitProblem `xml:"failure"`
			Error     *junitProblem `xml:"error"`
			SystemOut string        `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitHead struct {
	Name     string  `xml:"name,attr"`
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Time     float64 `xml:"time,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func parseJUnit(t *testing.T, text string) (file junitFile) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	require.NoError(t, decoder.Decode(&file), text)
	_, err := decoder.Token()
	if err == nil { // the line feed at the end
		_, err = decoder.Token()
	}
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, file.Suites, 1)
	return file
}

func TestJUnitIsAsWorkedOutByHand(t *testing.T) {
	t.Parallel()
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Homework 3" tests="5" failures="1" errors="1" time="1.82">
 <testsuite name="Homework 3" tests="5" failures="1" errors="1" time="1.82" skipped="0" timestamp="2026-11-30T06:50:00">
  <testcase name="ada" classname="7a" time="0.06"></testcase>
  <testcase name="bo" classname="7a" time="0.08">
   <failure message="WA instead of AC: line 1: got 41, want 42" type="WA">secret/2 WA line 1: got 41, want 42&#xA;</failure>
   <system-out>stdout of secret/2:&#xA;41&#xA;&#xA;</system-out>
  </testcase>
  <testcase name="cy" classname="7b" time="0.08"></testcase>
  <testcase name="di" classname="7b" time="0">
   <error message="IE: validator: exit code 7" type="IE"></error>
  </testcase>
  <testcase name="ed" classname="7b" time="1.6"></testcase>
 </testsuite>
</testsuites>
`, write(t, report.WriteJUnit, seq(homework()...), "Homework 3"))
}

func TestJUnitKindsFollowVerdictAndPromise(t *testing.T) {
	t.Parallel()
	ac, wa, ie := []grade.Verdict{grade.AC}, []grade.Verdict{grade.WA}, []grade.Verdict{grade.IE}
	for name, test := range map[string]struct {
		item report.Item
		want string
	}{
		"accepted":                      {report.Item{Verdict: grade.AC}, ""},
		"rejected":                      {report.Item{Verdict: grade.TLE}, "failure"},
		"does not compile":              {report.Item{Verdict: grade.CE}, "failure"},
		"rejected as promised":          {report.Item{Verdict: grade.WA, Expected: wa}, ""},
		"accepted as promised":          {report.Item{Verdict: grade.AC, Expected: ac}, ""},
		"accepted against the promise":  {report.Item{Verdict: grade.AC, Expected: wa, Unexpected: true}, "failure"},
		"rejected against the promise":  {report.Item{Verdict: grade.WA, Expected: ac, Unexpected: true}, "failure"},
		"our failure":                   {report.Item{Verdict: grade.IE}, "error"},
		"our failure, whatever is said": {report.Item{Verdict: grade.IE, Expected: ie}, "error"},
		"not judged":                    {report.Item{}, "skipped"},
		"not judged though promised":    {report.Item{Expected: ac}, "skipped"},
		"a verdict that is none":        {report.Item{Verdict: "XX"}, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := parseJUnit(t, write(t, report.WriteJUnit, seq(test.item), "")).Suites[0]
			require.Equal(t, 1, suite.Tests)
			got := map[string]bool{"failure": suite.Cases[0].Failure != nil, "error": suite.Cases[0].Error != nil, "skipped": suite.Cases[0].Skipped != nil}
			counts := map[string]int{"failure": suite.Failures, "error": suite.Errors, "skipped": suite.Skipped}
			for kind := range got {
				require.Equal(t, kind == test.want, got[kind], kind)
				require.Equal(t, kind == test.want, counts[kind] == 1, kind)
			}
		})
	}
}

func TestJUnitCountsAreThoseOfTheCases(t *testing.T) {
	t.Parallel()
	all := grade.Verdicts()
	file := parseJUnit(t, write(t, report.WriteJUnit, made(1000, func(i int) report.Item {
		return report.Item{ID: fmt.Sprint(i), Verdict: append(all, grade.NotRun)[i%9], WallTime: ms(1)}
	}), ""))
	suite := file.Suites[0]
	// 1000 = 111 times 9 verdicts and one AC more: six of the nine fail, one is an error, one skipped.
	require.Equal(t, junitHead{Name: "Batch results", Tests: 1000, Failures: 666, Errors: 111, Time: 1}, suite.junitHead)
	require.Equal(t, suite.junitHead, file.junitHead)
	require.Equal(t, 111, suite.Skipped)
	counted := junitHead{Name: "Batch results", Time: 1}
	skipped := 0
	for _, c := range suite.Cases {
		counted.Tests++
		if c.Failure != nil {
			counted.Failures++
		}
		if c.Error != nil {
			counted.Errors++
		}
		if c.Skipped != nil {
			skipped++
		}
		require.InDelta(t, 0.001, c.Time, 1e-9)
	}
	require.Equal(t, suite.junitHead, counted)
	require.Equal(t, suite.Skipped, skipped)
}

func TestJUnitOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	suite := parseJUnit(t, write(t, report.WriteJUnit, seq(), "")).Suites[0]
	require.Equal(t, junitHead{Name: "Batch results"}, suite.junitHead)
	require.Empty(t, suite.Timestamp)
}

func TestJUnitIsValidWhateverIsInIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(hostile, 1000)
	item := report.Item{
		ID: hostile, Group: hostile, Language: hostile, Verdict: grade.RE, Message: long, Compile: &report.Compile{Output: long},
		Tests: []grade.TestReport{{Name: hostile, Finding: grade.Finding{Verdict: grade.RE, Message: long}, Stdout: stream(long), Stderr: stream(long)}},
	}
	text := write(t, report.WriteJUnit, seq(item), hostile)
	require.True(t, utf8.ValidString(text))
	require.Less(t, len(text), 40_000, "output and messages are cut")
	for _, r := range text {
		require.True(t, r == '\n' || r >= 0x20 && r != 0xFFFE && r != 0xFFFF, "%U is forbidden in XML", r)
	}
	file := parseJUnit(t, text)
	require.Len(t, file.Suites[0].Cases, 1, "nothing in the text became an element")
	c := file.Suites[0].Cases[0]
	require.Contains(t, c.Name, "<script>alert(1)</script>")
	require.Contains(t, c.Name, "␛[31m␛]0;title␇␀␡")
	require.Contains(t, c.Failure.Message, "RE: </pre>")
	require.Contains(t, c.SystemOut, "compiler:\n</pre>")
	require.Contains(t, c.SystemOut, " […] ")
	require.Nil(t, c.Error)
}

func TestJUnitListsSomeOfManyTests(t *testing.T) {
	t.Parallel()
	item := report.Item{ID: "a", Verdict: grade.WA}
	for i := range 70 {
		item.Tests = append(item.Tests, test(fmt.Sprint("t", i), grade.WA, 1, ""), test(fmt.Sprint("ok", i), grade.AC, 1, ""))
	}
	failure := parseJUnit(t, write(t, report.WriteJUnit, seq(item), "")).Suites[0].Cases[0].Failure
	require.Len(t, lines(failure.Text), 51)
	require.Equal(t, "t49 WA", strings.TrimSpace(lines(failure.Text)[49]))
	require.Equal(t, "and 20 more", lines(failure.Text)[50])
}

func TestJUnitKeepsTheOutputOfAnAcceptedItem(t *testing.T) {
	t.Parallel()
	accepted := test("1", grade.AC, 1, "")
	accepted.Stdout, accepted.Stderr = stream("42\n"), stream("debug\n")
	later := test("2", grade.AC, 1, "")
	later.Stdout = stream("not this one")
	cut := sandbox.NewStream([]byte("he"), []byte("il"), 1004)
	failed := test("3", grade.WA, 1, "")
	failed.Stdout = &cut
	output := func(tests ...grade.TestReport) string {
		item := report.Item{Verdict: grade.AC, Tests: tests}
		return parseJUnit(t, write(t, report.WriteJUnit, seq(item), "")).Suites[0].Cases[0].SystemOut
	}
	require.Equal(t, "stdout of 1:\n42\n\nstderr of 1:\ndebug\n\n", output(accepted, later))
	require.Equal(t, "stdout of 3:\nhe\n[... 1000 of 1004 bytes not kept ...]\nil\n", output(accepted, later, failed))
}

func TestJUnitNeedsItemsThatCanBeReadTwice(t *testing.T) {
	t.Parallel()
	err := report.WriteJUnit(io.Discard, report.Read(strings.NewReader(written(t, homework()...))), report.Options{})
	require.EqualError(t, err, "the items changed while the report was written, or could be read only once")
}
