package report_test

import (
	"bytes"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is text that would do something in each of the formats, or break it.
const hostile = "</pre></td></style></script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>" +
	"\"'><a href=\"javascript:alert(3)\">]]></failure>&lt;&#0;{{.}}\x1b[31m\x1b]0;title\a\x00\x7f\xff\xfe\xc3\u202e\u0085\ufffe\r\n-->"

// seq are items that can be ranged over as often as wanted.
func seq(items ...report.Item) iter.Seq2[report.Item, error] {
	return func(yield func(report.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// made are n items that are made as they are asked for.
func made(n int, item func(i int) report.Item) iter.Seq2[report.Item, error] {
	return func(yield func(report.Item, error) bool) {
		for i := range n {
			if !yield(item(i), nil) {
				return
			}
		}
	}
}

// failing ends with an error after the items.
func failing(err error, items ...report.Item) iter.Seq2[report.Item, error] {
	return func(yield func(report.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		yield(report.Item{}, err)
	}
}

// write returns what a format writes of items that must be fine.
func write(t *testing.T, format func(io.Writer, iter.Seq2[report.Item, error], report.Options) error, items iter.Seq2[report.Item, error], title string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, format(&out, items, report.Options{Title: title}))
	return out.String()
}

func score(s float64) *float64 { return &s }

func ms(n int) sandbox.Seconds { return sandbox.Seconds(time.Duration(n) * time.Millisecond) }

func at(minute int) time.Time { return time.Date(2026, 11, 30, 6, minute, 0, 0, time.UTC) }

func test(name string, verdict grade.Verdict, cpu int, message string) grade.TestReport {
	return grade.TestReport{
		Name: name, Finding: grade.Finding{Verdict: verdict, Message: message},
		CPUTime: ms(cpu), WallTime: ms(2 * cpu), PeakMemory: 8 << 20,
	}
}

func stream(text string) *sandbox.Stream {
	s := sandbox.NewStream([]byte(text), nil, int64(len(text)))
	return &s
}

// homework is a batch of five whose figures are easy to work out: two are accepted, one is
// wrong as it promised, one wrong though it promised to be accepted, and one failed on our side.
func homework() []report.Item {
	wrong := test("secret/2", grade.WA, 30, "line 1: got 41, want 42")
	wrong.Stdout = stream("41\n")
	return []report.Item{
		{
			Index: 0, ID: "ada", Group: "7a", Language: "python", Verdict: grade.AC, Score: score(100), Expected: []grade.Verdict{grade.AC},
			CPUTime: ms(20), WallTime: ms(40), PeakMemory: 8 << 20, Slowest: "secret/2", Attempts: 1, FinishedAt: at(50),
			Tests: []grade.TestReport{test("secret/1", grade.AC, 10, ""), test("secret/2", grade.AC, 20, "")},
		},
		{
			Index: 1, ID: "bo", Group: "7a", Language: "cpp", Verdict: grade.WA, Score: score(50), Expected: []grade.Verdict{grade.AC}, Unexpected: true,
			CPUTime: ms(30), WallTime: ms(60), PeakMemory: 16 << 20, Slowest: "secret/2", Attempts: 1, FinishedAt: at(52), Message: "line 1: got 41, want 42",
			Previous: &report.Previous{Verdict: grade.AC, Score: score(100), Rejudged: 1},
			Tests:    []grade.TestReport{test("secret/1", grade.AC, 10, ""), wrong},
		},
		{
			Index: 2, ID: "cy", Group: "7b", Language: "cpp", Verdict: grade.WA, Score: score(0), Expected: []grade.Verdict{grade.WA, grade.TLE},
			CPUTime: ms(40), WallTime: ms(80), PeakMemory: 8 << 20, Slowest: "secret/1", Attempts: 2, FinishedAt: at(51),
			Previous: &report.Previous{Verdict: grade.WA, Score: score(0), Rejudged: 1},
			Tests:    []grade.TestReport{test("secret/1", grade.WA, 40, "")},
		},
		{Index: 3, ID: "di", Group: "7b", Language: "java", Verdict: grade.IE, Attempts: 3, FinishedAt: at(59), Message: "validator: exit code 7"},
		{Index: 4, ID: "ed", Group: "7b", Language: "java", Verdict: grade.AC, Score: score(75.5), CPUTime: ms(1500), WallTime: ms(1600), Attempts: 1, FinishedAt: at(53)},
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
