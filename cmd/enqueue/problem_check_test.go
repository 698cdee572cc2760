package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

// promised are submissions that get what is promised.
var promised = map[string]string{
	"submissions/accepted/sum.py":             "cpu 0.9\nsum",
	"submissions/wrong_answer/three.py":       "print 3",
	"submissions/time_limit_exceeded/slow.py": "cpu 9\nsum",
	"submissions/run_time_error/crash.c":      "sum\nat 3\nexit 1",
	"submissions/compile_error/typo.cpp":      "broken",
	"submissions/mixed/either.py":             "# @EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT\nprint 4",
}

func byPath(report checkReport) map[string]submissionLine {
	lines := map[string]submissionLine{}
	for _, line := range report.Submissions {
		lines[strings.TrimPrefix(line.Path, "submissions/")] = line
	}
	return lines
}

func TestAPackageThatKeepsItsPromises(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	dir := b.pack(t, "sum", sumProblem, promised)
	ran := b.enqueue(t, "problem", "check", dir, "--json")
	require.Equal(t, 0, ran.code, ran.stderr)
	report := decode[checkReport](t, ran.stdout)
	require.True(t, report.OK)
	require.Equal(t, "sum", report.Problem)
	require.False(t, report.Inferred)
	require.Empty(t, report.Warnings)
	lines := byPath(report)
	require.Equal(t, grade.AC, lines["accepted/sum.py"].Verdict)
	require.InDelta(t, 0.9, lines["accepted/sum.py"].CPUTime.Duration().Seconds(), 1e-6)
	require.Empty(t, lines["accepted/sum.py"].Test)
	require.Equal(t, grade.WA, lines["wrong_answer/three.py"].Verdict)
	require.Equal(t, "secret/1", lines["wrong_answer/three.py"].Test, "3 is right for the sample")
	require.Equal(t, grade.TLE, lines["time_limit_exceeded/slow.py"].Verdict)
	require.Equal(t, "sample/1", lines["time_limit_exceeded/slow.py"].Test)
	require.Equal(t, grade.RE, lines["run_time_error/crash.c"].Verdict)
	require.Equal(t, grade.CE, lines["compile_error/typo.cpp"].Verdict)
	require.Equal(t, "AC", lines["accepted/sum.py"].Promised)

	require.Equal(t, 3, programs.tests("cpu 0.9"), "every test counts for the times")
	require.Equal(t, 2, programs.tests("print 3"), "the first failure decides")

	table := b.enqueue(t, "problem", "check", dir)
	require.Equal(t, 0, table.code, table.stderr)
	require.Contains(t, table.stdout, "sum: time limit 2.00s\n")
	require.Regexp(t, `(?m)^ok +wrong_answer/three\.py +WA +WA +0\.01s +secret/1$`, table.stdout)
}

func TestAPackageThatBreaksItsPromises(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	dir := b.pack(t, "sum", sumProblem, promised, map[string]string{
		"submissions/accepted/wrong.py":           "print 3",
		"submissions/wrong_answer/right.py":       "sum",
		"submissions/time_limit_exceeded/near.py": "cpu 2.1\nsum", // more than the limit of 2 s and less than 1.5 times as much
		"submissions/accepted/close.py":           "cpu 1.2\nsum", // more than half of the limit
		"submissions/accepted/typo.py":            "broken",
		"submissions/accepted/cobol.cob":          "sum",
	})
	ran := b.enqueue(t, "problem", "check", dir, "--json")
	require.Equal(t, 1, ran.code)
	require.Contains(t, ran.stderr, "4 of 12 submissions do not get what is promised")
	report := decode[checkReport](t, ran.stdout)
	require.False(t, report.OK)
	lines := byPath(report)
	require.Equal(t, []string{"got WA, want AC"}, lines["accepted/wrong.py"].Violations)
	require.Equal(t, "secret/1", lines["accepted/wrong.py"].Test)
	require.Equal(t, []string{"got AC, want WA"}, lines["wrong_answer/right.py"].Violations)
	require.Equal(t, []string{"got CE, want AC"}, lines["accepted/typo.py"].Violations)
	require.Equal(t, []string{"cannot be judged: program submissions/accepted/cobol.cob: no file tells its language"}, lines["accepted/cobol.cob"].Violations)
	require.Empty(t, lines["time_limit_exceeded/near.py"].Violations)
	require.Equal(t, grade.TLE, lines["time_limit_exceeded/near.py"].Verdict)
	require.Len(t, report.Warnings, 1)
	require.Equal(t, "the slowest accepted submission takes 1.2s: with the factor 2 the limit of 2s is too low", report.Warnings[0])

	table := b.enqueue(t, "problem", "check", dir)
	require.Regexp(t, `(?m)^NO +accepted/wrong\.py +AC +WA +0\.01s +secret/1$`, table.stdout)
	require.Contains(t, table.stdout, "submissions/accepted/wrong.py: got WA, want AC\n")
}

func TestATimeLimitThatIsTooHigh(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	dir := b.pack(t, "sum", sumProblem, promised, map[string]string{"submissions/time_limit_exceeded/near.py": "cpu 2.1\nsum"})
	ran := b.enqueue(t, "problem", "check", dir)
	require.Equal(t, 0, ran.code, ran.stderr)
	require.Contains(t, ran.stdout, "warning: a submission that must be too slow takes only 2.1s: with the factor 1.5 the limit of 2s is too high\n")
}

func TestTheTimeLimitOfAPackageWithoutOne(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	untimed := map[string]string{"problem.yaml": "name: Sum\n"} // legacy: five times the slowest
	dir := b.pack(t, "sum", sumProblem, promised, untimed, map[string]string{"submissions/time_limit_exceeded/slow.py": "cpu 5.5\nsum"})
	ran := b.enqueue(t, "problem", "check", dir, "--json")
	require.Equal(t, 0, ran.code, ran.stderr)
	report := decode[checkReport](t, ran.stdout)
	require.True(t, report.Inferred)
	require.InDelta(t, 5, report.TimeLimit.Duration().Seconds(), 1e-9, "0.9 s five times is 4.5 s, which is rounded up")
	require.Equal(t, grade.TLE, byPath(report)["time_limit_exceeded/slow.py"].Verdict)
	require.Equal(t, 3, programs.tests("cpu 0.9"), "it is judged once")
	require.Contains(t, report.Warnings[0], "takes only 5.5s")

	none := b.pack(t, "none", sumProblem, untimed, map[string]string{"submissions/wrong_answer/three.py": "print 3"})
	ran = b.enqueue(t, "problem", "check", none)
	require.Equal(t, 2, ran.code)
	require.Contains(t, ran.stderr, "gives no time limit and has no accepted submission to infer it from: name one with --time-limit")
	ran = b.enqueue(t, "problem", "check", none, "--time-limit", "2")
	require.Equal(t, 0, ran.code, ran.stderr)

	slow := b.pack(t, "slow", sumProblem, untimed, map[string]string{"submissions/accepted/slow.py": "cpu 31\nsum"})
	ran = b.enqueue(t, "problem", "check", slow)
	require.Equal(t, 1, ran.code)
	require.Contains(t, ran.stderr, "submissions/accepted/slow.py takes more than 30s on sample/1")
}

func TestPackagesThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	for name, test := range map[string]struct {
		layer map[string]string
		want  string
	}{
		"no answer":      {map[string]string{"data/secret/1.ans": ""}, "data/secret/1.in: has no answer file: want 1.ans beside it"},
		"no submissions": {nil, "submissions: holds none: there is nothing to check"},
		"too much":       {map[string]string{"problem.yaml": "name: Sum\nlimits: {memory: 9000}\n"}, "problem.yaml: the memory limit of 9000 MiB is not allowed here: want at most 4096"},
		"multi-pass":     {map[string]string{"problem.yaml": "name: Sum\nvalidation: custom multi-pass\n", "output_validators/v.py": "x"}, "problem.yaml: multi-pass problems are not supported"},
	} {
		dir := b.pack(t, name, sumProblem, test.layer)
		ran := b.enqueue(t, "problem", "check", dir)
		require.Equal(t, 2, ran.code, name)
		require.Contains(t, ran.stderr, "enqueue: "+dir+": "+test.want, name)
		require.Empty(t, ran.stdout)
	}
	require.Equal(t, 2, b.enqueue(t, "problem", "check").code)
	require.Equal(t, 2, b.enqueue(t, "problem", "check", b.dir+"/none").code)
	require.Equal(t, 2, b.enqueue(t, "problem", "check", b.pack(t, "x", sumProblem, promised), "--checker", "magic").code)
}

func TestOurOwnFailureIsNotThePackages(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	dir := b.pack(t, "sum", sumProblem, map[string]string{"submissions/accepted/sum.py": "sum", "submissions/accepted/lost.py": "lost"})
	ran := b.enqueue(t, "problem", "check", dir, "--json")
	require.Equal(t, 125, ran.code)
	require.Contains(t, ran.stderr, "1 of 2 submissions could not be judged")
	require.Equal(t, grade.IE, byPath(decode[checkReport](t, ran.stdout))["accepted/lost.py"].Verdict)
}

func TestReportsOfACheck(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	dir := b.pack(t, "sum", sumProblem, promised, map[string]string{"submissions/accepted/wrong.py": "print 3"})
	junit := filepath.Join(b.dir, "out.xml")
	ran := b.enqueue(t, "problem", "check", dir, "--junit", junit)
	require.Equal(t, 1, ran.code)
	written, err := os.ReadFile(junit)
	require.NoError(t, err)
	require.Contains(t, string(written), `<testsuite name="Sum" tests="7" failures="1" errors="0"`)
	require.Contains(t, string(written), `<failure message="WA instead of AC: got WA, want AC`)
}

func TestAPackageInAZipArchive(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	path := filepath.Join(b.dir, "archive.zip")
	file, err := os.Create(path)
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	for _, layer := range []map[string]string{sumProblem, promised} {
		for name, text := range layer {
			w, err := archive.Create("sum-problem/" + name)
			require.NoError(t, err)
			_, err = w.Write([]byte(text))
			require.NoError(t, err)
		}
	}
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
	ran := b.enqueue(t, "problem", "check", path, "--json")
	require.Equal(t, 0, ran.code, ran.stderr)
	require.Equal(t, "sum-problem", decode[checkReport](t, ran.stdout).Problem)

	shown := b.enqueue(t, "problem", "show", path)
	require.Equal(t, 0, shown.code, shown.stderr)
	require.Contains(t, shown.stdout, "time limit  2s (accepted × 2, too slow ÷ 1.5)")
	require.Regexp(t, `secret/2 +2002 bytes +5 bytes`, shown.stdout)
	require.Regexp(t, `submissions/mixed/either.py +WA or TLE`, shown.stdout)
}
