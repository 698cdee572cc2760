package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	results "github.com/sandloop/sandloop/internal/grade/report"
)

// homework are submissions to sumProblem.
var homework = map[string]string{
	"alice.py":       "cpu 0.5\nsum",
	"bob.c":          "print 3",
	"carol/main.cpp": "broken",
	"carol/util.h":   "",
	"dave.py":        "cpu 5\nsum",
	"erin.cob":       "sum",
}

// resultsIn reads a results file by id.
func resultsIn(t *testing.T, path string) map[string]results.Item {
	t.Helper()
	byID := map[string]results.Item{}
	for item, err := range results.ReadFile(path) {
		require.NoError(t, err)
		require.NotContains(t, byID, item.ID, "one line for each")
		byID[item.ID] = item
	}
	return byID
}

func verdictsOf(items map[string]results.Item) map[string]grade.Verdict {
	verdicts := map[string]grade.Verdict{}
	for id, item := range items {
		verdicts[id] = item.Verdict
	}
	return verdicts
}

func TestGradeAFolder(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	sum, handedIn := b.pack(t, "sum", sumProblem), b.pack(t, "in", homework, map[string]string{"carol/util.h": "int x;"})
	ran := b.enqueue(t, "grade", sum, handedIn)
	require.Equal(t, 1, ran.code, ran.stderr)
	items := resultsIn(t, handedIn+".results.jsonl")
	require.Equal(t, map[string]grade.Verdict{
		"alice": grade.AC, "bob": grade.WA, "carol": grade.CE, "dave": grade.TLE, "erin": grade.CE,
	}, verdictsOf(items))
	require.Equal(t, "no such word", items["carol"].Compile.Output)
	require.Equal(t, "rejected: program erin: no file tells its language", items["erin"].Message)
	require.Equal(t, "python", items["alice"].Language)
	require.Len(t, items["alice"].Tests, 3)
	require.Equal(t, "sample/1", items["alice"].Slowest)
	require.Equal(t, 2, programs.tests("print 3"), "the first failure decides")
	require.Contains(t, ran.stderr, "5 items judged")

	// The same command again does nothing.
	before := programs.total()
	again := b.enqueue(t, "grade", sum, handedIn)
	require.Equal(t, 1, again.code)
	require.Contains(t, again.stderr, "5 of 5 items have a result")
	require.Equal(t, before, programs.total())

	// Another submission in the place of one is another batch.
	b.file(t, "in/bob.c", "sum")
	ran = b.enqueue(t, "grade", sum, handedIn)
	require.Equal(t, 2, ran.code)
	require.Contains(t, ran.stderr, "--fresh throws the results away")
	ran = b.enqueue(t, "grade", sum, handedIn, "--fresh", "--mode", "all")
	require.Equal(t, 1, ran.code)
	items = resultsIn(t, handedIn+".results.jsonl")
	require.Equal(t, grade.AC, items["bob"].Verdict)
	require.Len(t, items["dave"].Tests, 3, "all tests")
}

func TestGradeAnArchiveOfGroups(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	path := filepath.Join(b.dir, "teams.zip")
	file, err := os.Create(path)
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	for name, text := range map[string]string{"red/a.py": "sum", "red/b.py": "print 3", "blue/a.py": "sum", "../evil.py": "sum"} {
		w, err := archive.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
	csv := filepath.Join(b.dir, "out.csv")
	ran := b.enqueue(t, "grade", b.pack(t, "sum", sumProblem), path, "--group-by-folder", "--csv", csv)
	require.Equal(t, 1, ran.code, ran.stderr)
	items := resultsIn(t, filepath.Join(b.dir, "teams.results.jsonl"))
	require.Equal(t, map[string]grade.Verdict{"red/a": grade.AC, "red/b": grade.WA, "blue/a": grade.AC, "../evil.py": grade.CE}, verdictsOf(items))
	require.Equal(t, "red", items["red/b"].Group)
	require.FileExists(t, csv)
}

func TestGradeWithOtherLimitsAndTests(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	sum, alice := b.pack(t, "sum", sumProblem), b.file(t, "alice.py", "at 3\ncpu 3\nsum")
	out := filepath.Join(b.dir, "r.jsonl")
	grading := func(flags ...string) results.Item {
		args := append([]string{"grade", sum, alice, "--results", out, "--fresh"}, flags...)
		ran := b.enqueue(t, args...)
		require.LessOrEqual(t, ran.code, 1, ran.stderr)
		return resultsIn(t, out)["alice"]
	}
	require.Equal(t, grade.WA, grading().Verdict, "nothing is printed for the sample")
	item := grading("--tests", "secret/1")
	require.Equal(t, grade.TLE, item.Verdict)
	require.Len(t, item.Tests, 1)
	item = grading("--tests", "secret/1", "--time-limit", "4", "--memory", "64MiB", "--output-limit", "1KiB")
	require.Equal(t, grade.AC, item.Verdict)
	limits := programs.seen[len(programs.seen)-1].Limits
	require.EqualValues(t, 64<<20, *limits.Memory)
	require.EqualValues(t, 1024, *limits.OutputKill)
	require.InDelta(t, 70, limits.WallTime.Duration().Seconds(), 1e-9)
}

func TestGradeAProblemWithoutATimeLimit(t *testing.T) {
	t.Parallel()
	b, _ := setupGrading(t)
	sum := b.pack(t, "sum", sumProblem, map[string]string{"problem.yaml": "name: Sum\n", "submissions/accepted/sum.py": "cpu 0.9\nsum"})
	ran := b.enqueue(t, "grade", sum, b.file(t, "alice.py", "cpu 4.9\nsum"), b.file(t, "bob.py", "cpu 5.1\nsum"))
	require.Equal(t, 1, ran.code)
	require.Contains(t, ran.stderr, "the time limit is 5s, inferred from its accepted submissions (--time-limit 5 keeps it)")
	require.Equal(t, map[string]grade.Verdict{"alice": grade.AC, "bob": grade.TLE}, verdictsOf(resultsIn(t, filepath.Join(b.dir, "alice.py.results.jsonl"))))

	// The one that could not be judged may be the slowest.
	lost := b.pack(t, "lost", sumProblem, map[string]string{
		"problem.yaml": "name: Sum\n", "submissions/accepted/sum.py": "cpu 0.9\nsum", "submissions/accepted/slow.py": "lost",
	})
	ran = b.enqueue(t, "grade", lost, b.file(t, "carol.py", "cpu 4.9\nsum"))
	require.Equal(t, 125, ran.code, ran.stderr)
	require.Contains(t, ran.stderr, "submissions/accepted/slow.py could not be judged: no time limit can be inferred without it")
	require.NoFileExists(t, filepath.Join(b.dir, "carol.py.results.jsonl"))

	slow := b.pack(t, "slow", sumProblem, map[string]string{"problem.yaml": "name: Sum\n", "submissions/accepted/slow.py": "cpu 31\nsum"})
	ran = b.enqueue(t, "grade", slow, b.file(t, "dave.py", "cpu 1\nsum"))
	require.Equal(t, 2, ran.code, ran.stderr)
	require.Contains(t, ran.stderr, "submissions/accepted/slow.py takes more than 30s on")
}

func TestWhatCannotBeGraded(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	sum, empty := b.pack(t, "sum", sumProblem), filepath.Join(b.dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o700))
	alice := b.file(t, "alice.py", "sum")
	old := b.file(t, "old.jsonl", "{\"id\":\"a\",\"key\":\"k\"}\n")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no submissions":           {[]string{sum}, "want a problem package and at least one file, folder or archive with submissions"},
		"an empty folder":          {[]string{sum, empty}, "there are no submissions"},
		"a path that is not there": {[]string{sum, empty + "/x"}, "no such file or directory"},
		"an unknown mode":          {[]string{sum, alice, "--mode", "some"}, "--mode"},
		"no tests":                 {[]string{sum, alice, "--tests", "x"}, `no test matches "x"`},
		"old results as results":   {[]string{sum, alice, "--regrade", old, "--results", old}, "is read by the same command: want another file"},
		"something else as old":    {[]string{sum, alice, "--regrade", b.file(t, "x.jsonl", "{}\n")}, "has no key: want the results of enqueue grade"},
		"a line that is no JSON":   {[]string{sum, alice, "--regrade", b.file(t, "y.jsonl", "x\n{}\n")}, "y.jsonl: line 1: "},
	} {
		ran := b.enqueue(t, append([]string{"grade"}, test.args...)...)
		require.Equal(t, 2, ran.code, name)
		require.Contains(t, ran.stderr, test.want, name)
	}
}

func TestRegradeJudgesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	sum := b.pack(t, "sum", sumProblem)
	handedIn := b.pack(t, "in", homework)
	b.file(t, "in/frank.py", "# frank\nsum")
	require.Equal(t, 1, b.enqueue(t, "grade", sum, handedIn, "--mode", "all").code)
	old := handedIn + ".results.jsonl"

	// The answer to secret/1 was wrong, a test came, and frank handed in another program.
	b.file(t, "sum/data/secret/1.ans", "3\n")
	b.file(t, "sum/data/secret/3.in", "1 1\n")
	b.file(t, "sum/data/secret/3.ans", "2\n")
	b.file(t, "in/frank.py", "# frank again\nsum")
	b.file(t, "in/grace.py", "# grace\nsum")
	before := map[string]int{"print 3": programs.tests("print 3"), "cpu 0.5": programs.tests("cpu 0.5")}
	ran := b.enqueue(t, "grade", sum, handedIn, "--mode", "all", "--regrade", old)
	require.Equal(t, 1, ran.code, ran.stderr)
	items := resultsIn(t, handedIn+".regraded.jsonl")
	require.Equal(t, map[string]grade.Verdict{
		"alice": grade.WA, "bob": grade.WA, "carol": grade.CE, "dave": grade.TLE, "erin": grade.CE, "frank": grade.WA, "grace": grade.WA,
	}, verdictsOf(items))
	require.Equal(t, &results.Previous{Verdict: grade.AC, Rejudged: 2}, items["alice"].Previous)
	require.Len(t, items["alice"].Tests, 4)
	require.Equal(t, &results.Previous{Verdict: grade.WA, Rejudged: 2}, items["bob"].Previous)
	require.Equal(t, &results.Previous{Verdict: grade.CE}, items["carol"].Previous)
	require.Equal(t, &results.Previous{Verdict: grade.AC, Rejudged: 4}, items["frank"].Previous)
	require.Nil(t, items["grace"].Previous)
	require.Equal(t, 2, programs.tests("print 3")-before["print 3"])
	require.Equal(t, 2, programs.tests("cpu 0.5")-before["cpu 0.5"])
	require.Contains(t, ran.stdout, "alice: AC -> WA: secret/1: ")
	require.NotContains(t, ran.stdout, "bob: ")
	require.Contains(t, ran.stderr, "2 of 6 old results changed; tests judged anew: 10") // alice, bob and dave 2 each, frank 4

	// Nothing has changed: no test runs and nothing is queued.
	total := programs.total()
	same := filepath.Join(b.dir, "same.jsonl")
	ran = b.enqueue(t, "grade", sum, handedIn, "--mode", "all", "--regrade", handedIn+".regraded.jsonl", "--results", same)
	require.Equal(t, 1, ran.code, ran.stderr)
	require.Equal(t, total, programs.total())
	require.Equal(t, verdictsOf(items), verdictsOf(resultsIn(t, same)))
	require.Equal(t, items["alice"].JobID, resultsIn(t, same)["alice"].JobID)
	require.Contains(t, ran.stderr, "0 of 7 old results changed; tests judged anew: 0")

	// Other limits are another program: everything is judged.
	ran = b.enqueue(t, "grade", sum, handedIn, "--mode", "all", "--regrade", same, "--time-limit", "9", "--fresh")
	require.Equal(t, 1, ran.code, ran.stderr)
	require.Equal(t, 4, resultsIn(t, handedIn+".regraded.jsonl")["dave"].Previous.Rejudged)
}

func TestRegradeGradesGroupsAnewWithoutRunningAnything(t *testing.T) {
	t.Parallel()
	b, programs := setupGrading(t)
	scored := map[string]string{
		"problem.yaml":              "name: Sum\ntype: scoring\nlimits: {time_limit: 2}\n",
		"data/testdata.yaml":        "on_reject: continue\naccept_score: 10\ngrader_flags: ignore_sample\n",
		"data/secret/testdata.yaml": "grader_flags: always_accept\n",
	}
	sum, alice := b.pack(t, "sum", sumProblem, scored), b.file(t, "alice.py", "print 7")
	require.Equal(t, 0, b.enqueue(t, "grade", sum, alice).code)
	old := alice + ".results.jsonl"
	require.InDelta(t, 10, *resultsIn(t, old)["alice"].Score, 1e-9, "one of two secret tests")

	b.file(t, "sum/data/testdata.yaml", "on_reject: continue\naccept_score: 25\ngrader_flags: ignore_sample\n")
	total := programs.total()
	ran := b.enqueue(t, "grade", sum, alice, "--regrade", old)
	require.Equal(t, 0, ran.code, ran.stderr)
	require.Equal(t, total, programs.total())
	item := resultsIn(t, alice+".regraded.jsonl")["alice"]
	require.InDelta(t, 25, *item.Score, 1e-9)
	require.InDelta(t, 10, *item.Previous.Score, 1e-9)
	require.Zero(t, item.Previous.Rejudged)
	require.Contains(t, ran.stdout, "alice: AC 10 -> AC 25")
}

func TestATornOldResultIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "old.jsonl")
	line := func(id, verdict string) string {
		content, err := json.Marshal(results.Item{ID: id, Key: "k", Verdict: grade.Verdict(verdict)})
		require.NoError(t, err)
		return string(content) + "\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(line("a", "IE")+"\n"+line("b", "WA")+line("a", "AC")+strings.TrimSuffix(line("c", "AC"), "\"}\n")[:30]), 0o600))
	old, err := openOldResults(path)
	require.NoError(t, err)
	defer func() { _ = old.file.Close() }()
	item, found, err := old.find("a")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, grade.AC, item.Verdict, "the last line counts")
	_, found, err = old.find("c")
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, 1, old.unseen())
}
