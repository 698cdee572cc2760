package report_test

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

func TestCSVHasARowForEachItem(t *testing.T) {
	t.Parallel()
	require.Equal(t, `index,id,group,language,verdict,score,previous_verdict,expected,unexpected,passed,tests,cpu_seconds,wall_seconds,peak_memory_bytes,slowest,message,attempts,finished_at
0,ada,7a,python,AC,100,,AC,false,2,2,0.02,0.04,8388608,secret/2,,1,2026-11-30T06:50:00Z
1,bo,7a,cpp,WA,50,AC,AC,true,1,2,0.03,0.06,16777216,secret/2,"line 1: got 41, want 42",1,2026-11-30T06:52:00Z
2,cy,7b,cpp,WA,0,WA,WA TLE,false,0,1,0.04,0.08,8388608,secret/1,,2,2026-11-30T06:51:00Z
3,di,7b,java,IE,,,,false,0,0,0,0,0,,validator: exit code 7,3,2026-11-30T06:59:00Z
4,ed,7b,java,AC,75.5,,,false,0,0,1.5,1.6,0,,,1,2026-11-30T06:53:00Z
`, write(t, report.WriteCSV, seq(homework()...), ""))
}

func TestCSVCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=1+1":                    "'=1+1",
		"+1":                      "'+1",
		"-1":                      "'-1",
		"@SUM(A1)":                "'@SUM(A1)",
		"\t=1":                    "'\t=1",
		"\r=1":                    "'␍=1",
		"\n=1":                    "'\n=1",
		"  =1":                    "'  =1",
		"\u00a0=1":                "'\u00a0=1",
		"\ufeff=1":                "'\ufeff=1",
		"＝1":                      "'＝1",
		`=cmd|' /C calc'!A0`:      `'=cmd|' /C calc'!A0`,
		"a=1":                     "a=1",
		"1-2":                     "1-2",
		"'=1":                     "'=1",
		"":                        "",
		"a\x00b":                  "a␀b",
		"\x1b[31m":                "␛[31m",
		"a\xffb":                  "a\ufffdb",
		"\u202egnp.exe":           "\ufffdgnp.exe",
		"a\",\"b\n=2":             "a\",\"b\n=2",
		strings.Repeat("é", 1000): strings.Repeat("é", 1000),
	} {
		rows := parseCSV(t, write(t, report.WriteCSV, seq(report.Item{ID: text, Group: text, Language: text, Slowest: text, Message: text}), ""))
		require.Len(t, rows, 2, "%q", text)
		for _, column := range []int{1, 2, 3, 14, 15} {
			require.Equal(t, want, rows[1][column], "%q in column %d", text, column)
		}
	}
}

func TestCSVKeepsNumbersBelowZero(t *testing.T) {
	t.Parallel()
	rows := parseCSV(t, write(t, report.WriteCSV, seq(report.Item{Score: score(-1e-7)}), ""))
	require.Equal(t, "-0.0000001", rows[1][5])
}

func TestCSVIsTextWhateverIsInIt(t *testing.T) {
	t.Parallel()
	text := write(t, report.WriteCSV, seq(report.Item{ID: hostile, Verdict: grade.Verdict(hostile), Message: strings.Repeat(hostile, 1000)}), "")
	require.True(t, utf8.ValidString(text))
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\x00")
	require.Len(t, parseCSV(t, text), 2)
}

func TestErrorsOfItemsEndEveryFormat(t *testing.T) {
	t.Parallel()
	broken := errors.New("line 2: not JSON")
	for name, format := range formats {
		require.ErrorIs(t, format(io.Discard, failing(broken, homework()...), report.Options{}), broken, name)
	}
}

func TestErrorsOfWritingEndEveryFormat(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for name, format := range formats {
		for _, room := range []int{0, 100, 500} {
			left := room
			err := format(writerFunc(func(p []byte) (int, error) {
				if left -= len(p); left < 0 {
					return 0, full
				}
				return len(p), nil
			}), seq(homework()...), report.Options{})
			require.ErrorIs(t, err, full, "%s with room for %d bytes", name, room)
		}
	}
}

func parseCSV(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	return rows
}
