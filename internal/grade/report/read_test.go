package report_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

// collect returns the items before the first error, and the error.
func collect(items iter.Seq2[report.Item, error]) (all []report.Item, err error) {
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

func written(t *testing.T, items ...report.Item) string {
	t.Helper()
	var out bytes.Buffer
	w := report.NewWriter(&out)
	for _, item := range items {
		require.NoError(t, w.Write(item))
	}
	return out.String()
}

func TestItemsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	text := written(t, homework()...)
	require.Len(t, lines(text), 5)
	require.Contains(t, lines(text)[4], `{"index":4,"id":"ed","group":"7b","key":"","program":"","language":"java","verdict":"AC","score":75.5,"cpu_seconds":1.5,`)
	read, err := collect(report.Read(iotest.OneByteReader(strings.NewReader(text))))
	require.NoError(t, err)
	require.Equal(t, homework(), read)
}

func TestEachItemIsOneWriteOfOneLine(t *testing.T) {
	t.Parallel()
	var writes []string
	w := report.NewWriter(writerFunc(func(p []byte) (int, error) {
		writes = append(writes, string(p))
		return len(p), nil
	}))
	require.NoError(t, w.Write(report.Item{ID: "a\nb\r"}))
	require.NoError(t, w.Write(report.Item{ID: "c"}))
	require.Len(t, writes, 2)
	for _, line := range writes {
		require.Equal(t, len(line)-1, strings.IndexByte(line, '\n'))
	}
	require.ErrorContains(t, w.Write(report.Item{Index: 7, ID: "x", Score: score(math.NaN())}), `encode item 7 "x"`)
	require.Len(t, writes, 2)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestTornLastLineCanBeTold(t *testing.T) {
	t.Parallel()
	first, second := written(t, report.Item{ID: "one"}), written(t, report.Item{ID: "two"})
	for cut := 1; cut < len(second)-1; cut++ {
		read, err := collect(report.Read(strings.NewReader(first + second[:cut])))
		require.ErrorIs(t, err, report.ErrTorn, "cut at %d", cut)
		var torn *report.TornError
		require.ErrorAs(t, err, &torn)
		require.Equal(t, report.TornError{Line: 2, Offset: int64(len(first))}, *torn)
		require.Len(t, read, 1)
	}
	read, err := collect(report.Read(strings.NewReader(first + second[:len(second)-1])))
	require.NoError(t, err, "only the line feed is missing")
	require.Len(t, read, 2)
}

func TestLinesThatAreNoItemsAreRefused(t *testing.T) {
	t.Parallel()
	good := written(t, report.Item{ID: "one"})
	for name, test := range map[string]struct{ text, want string }{
		"not JSON":              {good + "\n" + "hello\n" + good, "line 3: invalid character 'h'"},
		"torn in the middle":    {good[:20] + "\n" + good, "line 1: invalid character"},
		"a list":                {"[]\n", "line 1: json: cannot unmarshal array"},
		"unknown verdict":       {`{"verdict":"OK"}` + "\n", `line 1: verdict "OK" is unknown: want one of [AC WA`},
		"verdict of a test":     {`{"tests":[{"verdict":"ac"}]}` + "\n", `line 1: verdict "ac" is unknown`},
		"expected verdict":      {`{"expected":["AC","RTE"]}` + "\n", `line 1: verdict "RTE" is unknown: want RE`},
		"previous verdict":      {`{"previous":{"verdict":"<b>"}}` + "\n", `line 1: verdict "<b>" is unknown`},
		"time that is too long": {`{"cpu_seconds":1e300}` + "\n", "seconds is out of range"},
		"two items in one line": {strings.TrimSuffix(good, "\n") + good, "line 1: invalid character '{' after top-level value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := collect(report.Read(strings.NewReader(test.text)))
			require.ErrorContains(t, err, test.want)
			require.NotErrorIs(t, err, report.ErrTorn)
		})
	}
}

func TestNothingComesAfterAnError(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, err := range report.Read(strings.NewReader("x\n{}\n{}\n")) {
		require.ErrorContains(t, err, "line 1")
		calls++
	}
	require.Equal(t, 1, calls)
}

func TestReadingEndsWhenTheCallerHasEnough(t *testing.T) {
	t.Parallel()
	for item, err := range report.Read(strings.NewReader(written(t, homework()...))) {
		require.NoError(t, err)
		require.Equal(t, "ada", item.ID)
		break
	}
}

func TestLinesOfMegabytesAreRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<20)
	read, err := collect(report.Read(strings.NewReader(written(t, report.Item{ID: "a", Message: long}, report.Item{ID: "b"}))))
	require.NoError(t, err)
	require.Len(t, read, 2)
	require.Equal(t, long, read[0].Message)
}

func TestAFileWithoutLinesIsNotTakenIntoMemory(t *testing.T) {
	t.Parallel()
	_, err := collect(report.Read(zeros{}))
	require.EqualError(t, err, "line 1: it is longer than 64 MiB, so this is no results file")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestErrorsOfTheSourceComeOut(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	read, err := collect(report.Read(io.MultiReader(strings.NewReader(written(t, report.Item{ID: "a"})), iotest.ErrReader(broken))))
	require.ErrorIs(t, err, broken)
	require.Len(t, read, 1)
	_, err = collect(report.ReadFile(filepath.Join(t.TempDir(), "none")))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAFileThatGrowsIsTheSameTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.jsonl")
	line := written(t, report.Item{ID: "one"})
	require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
	items := report.ReadFile(path)
	for range 2 {
		read, err := collect(items)
		require.NoError(t, err)
		require.Len(t, read, 1)
		require.NoError(t, os.WriteFile(path, []byte(line+line+line[:9]), 0o600))
	}
	read, err := collect(report.ReadFile(path))
	require.ErrorIs(t, err, report.ErrTorn)
	require.ErrorContains(t, err, path+": line 3: the last line is torn")
	require.Len(t, read, 2)
}

func TestEmptyFilesHaveNoItems(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "\n\r\n \n", "  "} {
		read, err := collect(report.Read(strings.NewReader(text)))
		require.NoError(t, err)
		require.Empty(t, read)
	}
}

func TestWhatIsNoResultsFileIsNotCut(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"id,verdict\na,AC", "[1, 2]", `{"id": "s1", "code": "print(4)"}`, "a\nb\nc"} {
		path := filepath.Join(t.TempDir(), "mine.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = report.Mend(file)
		require.ErrorContains(t, err, "this is no results file", "%s", content)
		require.NoError(t, file.Close())
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left))
	}
}

func TestInterruptedFilesAreMended(t *testing.T) {
	t.Parallel()
	line := written(t, report.Item{ID: "one", Verdict: grade.AC})
	long := written(t, report.Item{ID: "long", Message: strings.Repeat("x", 200_000)})
	for name, test := range map[string]struct {
		before, after string
	}{
		"empty":                   {"", ""},
		"whole":                   {line + line, line + line},
		"torn":                    {line + line[:10], line},
		"torn in the first":       {line[:10], ""},
		"without the line feed":   {line + line[:len(line)-1], line},
		"torn in a long one":      {line + long[:150_000], line},
		"exactly the piece's end": {line + strings.Repeat("x", 64<<10), line},
		"long and whole":          {long + long, long + long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "results.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(test.before), 0o600))
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			cut, err := report.Mend(file)
			require.NoError(t, err)
			require.Equal(t, int64(len(test.before)-len(test.after)), cut)
			require.NoError(t, report.NewWriter(file).Write(report.Item{ID: "one", Verdict: grade.AC}))
			require.NoError(t, file.Close())
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, test.after+line, string(content))
		})
	}
}
