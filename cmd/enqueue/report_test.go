package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	results "github.com/sandloop/sandloop/internal/grade/report"
)

// resultsFile writes a results file of two items and returns the bench and its path. No Redis is needed.
func resultsFile(t *testing.T, more string) (*bench, string) {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	var text strings.Builder
	w := results.NewWriter(&text)
	require.NoError(t, w.Write(results.Item{ID: "ada", Verdict: grade.AC}))
	require.NoError(t, w.Write(results.Item{Index: 1, ID: "=bo", Verdict: grade.WA, Message: "\x1b[31mred"}))
	return b, b.file(t, "results.jsonl", text.String()+more)
}

// folder lists the names in the bench's folder.
func (b *bench) folder(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func (b *bench) content(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	require.NoError(t, err)
	return string(content)
}

func TestReportRefusesTheBatchItself(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir()}
	got := b.enqueue(t, "report", b.file(t, "in.jsonl", `{"id":"a","language":"python","code":"print(1)"}`+"\n"))
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, `item "a": has no verdict: want a results file, not the batch itself`)
}

func TestReportPrintsASummary(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	require.Equal(t, ran{stdout: `  VERDICT  ITEMS   SHARE
       AC      1  50.0 %  accepted
       WA      1  50.0 %  wrong answer
      all      2        

items     2
accepted  50.0 %
`}, b.enqueue(t, "report", path))
	got := b.enqueue(t, "report", path, "--json")
	require.Equal(t, 0, got.code)
	require.Equal(t, 2, decode[results.Summary](t, got.stdout).Items)
}

func TestReportWritesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	got := b.enqueue(t, "report", path, "--csv", filepath.Join(b.dir, "r.csv"), "--junit", filepath.Join(b.dir, "r.xml"), "--html", filepath.Join(b.dir, "r.html"), "--title", "Week 3")
	require.Equal(t, ran{}, got)
	require.Equal(t, []string{"r.csv", "r.html", "r.xml", "results.jsonl"}, b.folder(t), "nothing else is left")
	require.Contains(t, b.content(t, "r.csv"), "\n1,'=bo,,,WA,")
	require.Contains(t, b.content(t, "r.xml"), `<testsuites name="Week 3" tests="2" failures="1"`)
	require.Contains(t, b.content(t, "r.html"), "<title>Week 3</title>")
}

func TestReportOnTheStandardOutput(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	got := b.enqueue(t, "report", path, "--csv", "-", "--html", filepath.Join(b.dir, "r.html"))
	require.Equal(t, 0, got.code, got.stderr)
	require.True(t, strings.HasPrefix(got.stdout, "index,id,"))
	require.Equal(t, 3, strings.Count(got.stdout, "\n"), "no summary")
	require.Contains(t, b.content(t, "r.html"), "<title>Batch results</title>")
}

func TestReportLeavesATornLineOut(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, `{"index":2,"id":"c`)
	for _, args := range [][]string{{}, {"--csv", "-"}, {"--junit", "-"}, {"--html", "-"}} {
		got := b.enqueue(t, append([]string{"report", path}, args...)...)
		require.Equal(t, 0, got.code)
		require.Equal(t, "enqueue: "+path+": the last line is incomplete and left out\n", got.stderr)
		require.NotEmpty(t, got.stdout)
	}
}

func TestReportCountsWhatWasJudgedAtLastOnce(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, `{"index":2,"id":"cy","verdict":"IE"}`+"\n"+`{"index":2,"id":"cy","verdict":"AC"}`+"\n")
	summary := decode[results.Summary](t, b.enqueue(t, "report", path, "--json").stdout)
	require.Equal(t, 3, summary.Items)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 2, grade.WA: 1}, summary.Verdicts)
	got := b.enqueue(t, "report", path, "--junit", "-")
	require.Contains(t, got.stdout, `tests="3" failures="1" errors="0"`)
}

func TestReportOfABrokenFileLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "\nhello\n")
	for _, flag := range []string{"--csv", "--junit", "--html"} {
		earlier := b.file(t, "earlier", "from before")
		got := b.enqueue(t, "report", path, flag, earlier)
		require.Equal(t, exitFailure, got.code)
		require.Contains(t, got.stderr, "enqueue: "+flag+": "+path+": line 4: invalid character 'h'")
		require.Equal(t, "from before", b.content(t, "earlier"))
		require.Equal(t, []string{"earlier", "results.jsonl"}, b.folder(t), "no half file is left")
	}
}

func TestReportRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	link := filepath.Join(b.dir, "link")
	require.NoError(t, os.Symlink(path, link))
	before := b.content(t, "results.jsonl")
	for want, args := range map[string][]string{
		"want one file with results":                       {},
		"no such file":                                     {filepath.Join(b.dir, "none.jsonl")},
		"--csv " + path + ": want another file":            {path, "--csv", path},
		"--html " + link + ": want another file than that": {path, "--html", link},
		"--junit -: want another file than that of --csv":  {path, "--csv", "-", "--junit", "-"},
		"--csv " + b.dir + ": want a file":                 {path, "--csv", b.dir},
		"there is no folder /no/such":                      {path, "--csv", "/no/such/file"},
		"--json: want it without":                          {path, "--json", "--csv", "x"},
	} {
		got := b.enqueue(t, append([]string{"report"}, args...)...)
		require.Equal(t, exitUsage, got.code, "%q", args)
		require.Contains(t, got.stderr, want)
		require.Empty(t, got.stdout)
	}
	require.Equal(t, before, b.content(t, "results.jsonl"))
}

func TestReportFollowsALinkToItsFile(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	target := b.file(t, "real.csv", "old")
	link := filepath.Join(b.dir, "link.csv")
	require.NoError(t, os.Symlink(target, link))
	require.Equal(t, 0, b.enqueue(t, "report", path, "--csv", link).code)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link is still one")
	require.Contains(t, b.content(t, "real.csv"), "index,id,")
}

func TestReportDoesNotReplaceADevice(t *testing.T) {
	t.Parallel()
	b, path := resultsFile(t, "")
	pipe := filepath.Join(b.dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	read := make(chan string, 1)
	go func() {
		content, err := os.ReadFile(pipe)
		read <- string(content)
		if err != nil {
			read <- err.Error()
		}
	}()
	require.Equal(t, 0, b.enqueue(t, "report", path, "--csv", pipe).code)
	require.True(t, strings.HasPrefix(<-read, "index,id,"))
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeNamedPipe)
}

func TestReportEndsQuietlyWhenNobodyReads(t *testing.T) {
	t.Parallel()
	_, path := resultsFile(t, "")
	for _, args := range [][]string{{}, {"--json"}, {"--csv", "-"}, {"--junit", "-"}, {"--html", "-"}} {
		err := run(t.Context(), append([]string{"report", path}, args...), strings.NewReader(""), gone{}, io.Discard)
		require.Equal(t, exitBrokenPipe, exitCode(err), "%q: %v", args, err)
	}
}

// gone is an output whose reader went away.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Err: errors.Join(syscall.EPIPE)}
}
