package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestOutputIsPlainAndWhatIsNotStdoutIsMarked(t *testing.T) {
	t.Parallel()
	require.Equal(t, "42", Describe(Call{Result: ok("42\n")}, 0).String())

	both := failed("Traceback\n")
	both.Stdout = stream("a\r\nb")
	require.Equal(t, "a\nb\n[stderr]\nTraceback\n[exit code 1]", Describe(Call{Result: both}, 0).String())

	compile := sandbox.Result{Outcome: sandbox.OutcomeCompileError, ExitCode: 1, Compile: &sandbox.Step{Outcome: sandbox.OutcomeNonzeroExit, Stderr: stream("main.c:1: error\n")}}
	require.Equal(t, "[compiler]\nmain.c:1: error\n[exit code 1]\n[the program was not run, since it does not compile. Repair what the compiler says and run it again]",
		Describe(Call{Result: compile}, 0).String())

	shown := live(workspace.LiveReport{Value: "7", Displays: []workspace.Display{{MIME: "text/plain", Text: "a table\n"}, {MIME: "image/png", Path: "figure-1.png"}}})
	shown.Written, shown.Deleted = []string{"a.csv", "b\nc"}, []string{"old"}
	require.Equal(t, "out\n[display]\na table\n[value]\n7\n[files written: a.csv, b�c]\n[files deleted: old]", Describe(Call{Result: ok("out\n"), Session: shown}, 0).String())
}

func TestManyFilesAreCounted(t *testing.T) {
	t.Parallel()
	report := &workspace.Report{}
	for i := range 23 {
		report.Written = append(report.Written, fmt.Sprint(i))
	}
	require.Equal(t, "x\n[files written: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 and 3 more]",
		Describe(Call{Result: ok("x\n"), Session: report}, 0).String())
}

func TestLongOutputKeepsHeadAndTailCutAtLines(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "line %02d\n", i) // 8 bytes each
	}
	// Of 90 bytes the head has 60, seven whole lines, and the tail 30, three whole lines: 80 of 800 bytes.
	got := Describe(Call{Result: ok(lines.String())}, 90)
	want := "line 00\nline 01\nline 02\nline 03\nline 04\nline 05\nline 06\n[... 720 of 800 bytes are not shown ...]\nline 97\nline 98\nline 99"
	require.Equal(t, want, got.Output)
	require.True(t, got.Has(OutputCut))
	require.Equal(t, "output was cut: 80 of 800 bytes of stdout are shown, its beginning and its end. Print less, or write it to a file in /workspace and look at parts of that", got.Notes[0].Text)
}

func TestOneLongLineIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	// 100 characters of 2 bytes: 2/3 of 31 are 20 bytes, 1/3 are 10, both even. With 32 they are 21 and 10, and one is split.
	for budget, shown := range map[int]int{31: 30, 32: 30, 35: 32} {
		got := Describe(Call{Result: ok(strings.Repeat("é", 100))}, budget)
		require.Equal(t, shown, 2*strings.Count(got.Output, "é"), budget)
		require.NotContains(t, got.Output, "�")
	}
}

func TestWhatTheWorkerCutStaysCut(t *testing.T) {
	t.Parallel()
	cut := ok("")
	cut.Stdout = sandbox.NewStream([]byte("head\n"), []byte("tail\n"), 5000)
	require.Equal(t, "head\n[... 4990 of 5000 bytes are not shown ...]\ntail", Describe(Call{Result: cut}, 0).Output)
	cut.Stdout = sandbox.NewStream([]byte(strings.Repeat("h", 60)+"\n"), []byte("tail\n"), 5000)
	require.Equal(t, strings.Repeat("h", 40)+"\n[... 4955 of 5000 bytes are not shown ...]\ntail", Describe(Call{Result: cut}, 60).Output)
}

func TestASmallStreamIsNotCutForALargeOne(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{10, 45, 45}, share([]int{10, 1000, 1000}, 100))
	require.Equal(t, []int{90, 10}, share([]int{1000, 10}, 100))
	require.Equal(t, []int{10, 20}, share([]int{10, 20}, 100))
	require.Empty(t, share(nil, 100))
	large := failed("the error\n")
	large.Stdout = stream(strings.Repeat("0123456789\n", 1000))
	got := Describe(Call{Result: large}, 200)
	require.Contains(t, got.Output, "[stderr]\nthe error\n")
	require.Less(t, len(got.Output), 300)
}

func TestControlCharactersNeverReachTheModel(t *testing.T) {
	t.Parallel()
	got, replaced := legible("\x1b[1;31mred\x1b[0m\a\x00\x1b]0;t\x07 ok\u0085\xc3 ü\t\n")
	require.Equal(t, "red�]0;t� ok� ü\t\n", got)
	require.Equal(t, 7, replaced, "bell, NUL and escape; bell; NEL, which has two bytes; half a character")
}

func TestSizesReadWell(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 256 << 20: "256 MiB", 268435457: "256.0 MiB", 3 << 30: "3 GiB",
	} {
		require.Equal(t, want, size(bytes))
	}
}
