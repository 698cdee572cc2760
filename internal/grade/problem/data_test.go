package problem_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

// findings reads "secret/1=AC secret/2=WA".
func findings(text string) map[string]grade.Finding {
	known := map[string]grade.Finding{}
	for _, word := range strings.Fields(text) {
		name, verdict, _ := strings.Cut(word, "=")
		known[name] = grade.Finding{Verdict: grade.Verdict(verdict)}
	}
	return known
}

func scoreOf(t testing.TB, p *problem.Problem, text string) *float64 {
	t.Helper()
	result := grade.Grade(p.Root, findings(text))
	require.NotNil(t, result.Score, "verdict %s: %s", result.Verdict, result.Note)
	return result.Score
}

// testCases adds empty tests to a package.
func testCases(names ...string) files {
	f := files{}
	for _, name := range names {
		f["data/"+name+".in"], f["data/"+name+".ans"] = "1 2\n", "3\n"
	}
	return f
}

func TestTestsComeInOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(testCases("sample/1", "secret/1-b", "secret/b/x", "secret/b/a", "secret/c", "secret/a", "secret/10", "secret/2", "secret/1.x")))
	require.Equal(t, []string{"sample/1", "secret/1", "secret/1-b", "secret/1.x", "secret/10", "secret/2", "secret/a", "secret/b/a", "secret/b/x", "secret/c"}, p.Root.Tests())
	require.ElementsMatch(t, p.Root.Tests(), testNames(p))
	test, found := p.Test("sample/1")
	require.True(t, found)
	require.Equal(t, problem.Test{
		Name: "sample/1", Input: "data/sample/1.in", Answer: "data/sample/1.ans", InputSize: 4, AnswerSize: 2, Sample: true,
		FullFeedback: true, Tokens: grade.TokenOptions{HexFloats: true},
	}, test)
}

func TestTestDataIsReadWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles)
	file, err := p.Open(p.Tests[0].Input)
	require.NoError(t, err)
	data, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Equal(t, "1 2\n", string(data))
	_, err = p.ReadFile("data/secret/1.in", 3)
	require.EqualError(t, err, "read data/secret/1.in: is larger than 3 bytes")
	_, err = p.Open("../etc/passwd")
	require.ErrorContains(t, err, "open ../etc/passwd: ")
	_, err = p.Open("data")
	require.EqualError(t, err, "open data: is a folder: want a file")
}

func TestFlagsOfTheProblemComeBeforeThoseOfTheGroup(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(testCases("sample/1", "secret/strict/1", "secret/strict/deep/1", "secret/named/1")).with(files{
		"problem.yaml":                     "name: Sum\nvalidator_flags: case_sensitive float_tolerance 1e-6\n",
		"data/secret/strict/testdata.yaml": "output_validator_flags: float_absolute_tolerance 0\n",
		"data/secret/named/testdata.yaml":  "output_validator_flags: {name: check, flags: space_change_sensitive}\n",
	}))
	require.Empty(t, p.Warnings)
	loose, _ := p.Test("secret/1")
	require.Equal(t, grade.TokenOptions{CaseSensitive: true, Absolute: number(1e-6), Relative: number(1e-6), HexFloats: true}, loose.Tokens)
	for _, name := range []string{"secret/strict/1", "secret/strict/deep/1"} {
		strict, _ := p.Test(name)
		require.Equal(t, grade.TokenOptions{CaseSensitive: true, Absolute: number(0), Relative: number(1e-6), HexFloats: true}, strict.Tokens)
		require.Equal(t, strings.Fields("case_sensitive float_tolerance 1e-6 float_absolute_tolerance 0"), strict.ValidatorFlags)
	}
	named, _ := p.Test("secret/named/1")
	require.True(t, named.Tokens.SpaceSensitive)
}

// The subtasks of an olympiad: 30 points for easy, 70 for hard, each all or nothing.
func TestLegacySubtasks(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(testCases("sample/1", "secret/easy/1", "secret/easy/2", "secret/hard/1")).with(files{
		"problem.yaml":                   "type: scoring\n",
		"data/secret/1.in":               "",
		"data/secret/1.ans":              "",
		"data/testdata.yaml":             "grader_flags: ignore_sample\non_reject: continue\nrange: 0 100\n",
		"data/secret/testdata.yaml":      "grader_flags: first_error accept_if_any_accepted\non_reject: continue\nrange: 0 100\n",
		"data/secret/easy/testdata.yaml": "grader_flags: min\non_reject: break\naccept_score: 30\nrange: 0 30\n",
		"data/secret/hard/testdata.yaml": "grader_flags: min\non_reject: break\naccept_score: 70\nrange: 0 70\n",
	}))
	require.Empty(t, p.Warnings)
	for text, want := range map[string]float64{
		"sample/1=AC secret/easy/1=AC secret/easy/2=AC secret/hard/1=AC": 100,
		"sample/1=WA secret/easy/1=AC secret/easy/2=AC secret/hard/1=AC": 100,
		"sample/1=AC secret/easy/1=AC secret/easy/2=AC secret/hard/1=WA": 30,
		"sample/1=AC secret/easy/1=WA secret/hard/1=AC":                  70,
		"sample/1=AC secret/easy/1=WA secret/hard/1=WA":                  0,
	} {
		require.Equal(t, number(want), scoreOf(t, p, text), text)
	}
	require.Equal(t, []string{"secret/hard/1"}, grade.Pending(p.Root, findings("sample/1=AC secret/easy/1=WA"), false))
}

func TestIgnoreSampleIsForTheRoot(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"data/secret/testdata.yaml: grader_flags: ignore_sample is for data/testdata.yaml only"},
		issues(t, legacyFiles.with(files{"data/secret/testdata.yaml": "grader_flags: ignore_sample\n"})))
}

const scoringHead = "problem_format_version: 2025-09\nname: Sum\nuuid: 5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e\ntype: scoring\n"

// easy is worth 20 when all of it passes, parts 60 in three equal parts, and zworst 20 by its worst test.
func scoringFiles() files {
	return currentFiles.with(testCases("sample/1", "secret/easy/1", "secret/easy/2", "secret/parts/1", "secret/parts/2", "secret/parts/sub/3", "secret/zworst/1", "secret/zworst/2")).with(files{
		"problem.yaml":                       scoringHead,
		"data/secret/1.in":                   "",
		"data/secret/1.ans":                  "",
		"data/secret/easy/test_group.yaml":   "max_score: 20\nrequire_pass: sample\n",
		"data/secret/parts/test_group.yaml":  "max_score: 60\nscore_aggregation: sum\nrequire_pass: [sample, secret/easy]\n",
		"data/secret/zworst/test_group.yaml": "max_score: 20\nscore_aggregation: min\n",
	})
}

func TestCurrentScoring(t *testing.T) {
	t.Parallel()
	p := load(t, scoringFiles())
	require.Empty(t, p.Warnings)
	sample, _ := p.Test("sample/1")
	secret, _ := p.Test("secret/easy/1")
	require.True(t, sample.FullFeedback)
	require.False(t, secret.FullFeedback)
	require.Equal(t, []string{"sample/1", "secret/easy/1", "secret/easy/2", "secret/parts/1", "secret/parts/2", "secret/parts/sub/3", "secret/zworst/1", "secret/zworst/2"}, p.Root.Tests())
	const all = "sample/1=AC secret/easy/1=AC secret/easy/2=AC secret/parts/1=AC secret/parts/2=AC secret/parts/sub/3=AC secret/zworst/1=AC secret/zworst/2=AC"
	for replace, want := range map[string]float64{"": 100, "secret/parts/2": 80, "secret/zworst/2": 80, "sample/1": 20} {
		text := all
		if replace != "" {
			text = strings.Replace(all, replace+"=AC", replace+"=WA", 1)
		}
		require.Equal(t, number(want), scoreOf(t, p, text), replace)
	}
	require.Equal(t, number(20.0), scoreOf(t, p, strings.Replace(all, "secret/easy/1=AC", "secret/easy/1=WA", 1)), "parts needs easy")
}

func TestTheDraftSharesOutWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(testCases("secret/a/1", "secret/b/1", "secret/c/1", "secret/c/2")).with(files{
		"problem.yaml":                  strings.Replace(scoringHead, "2025-09", "2023-07", 1),
		"data/secret/test_group.yaml":   "scoring: {score: 90}\n",
		"data/secret/a/test_group.yaml": "scoring: {score: 30}\n",
		"data/secret/c/test_group.yaml": "scoring: {aggregation: sum}\n",
	}))
	require.Empty(t, p.Warnings)
	// 60 are left for secret/1, b and c: 20 each, and 10 for each test of c.
	require.Equal(t, number(20.0), scoreOf(t, p, "secret/1=AC secret/a/1=WA secret/b/1=WA secret/c/1=WA secret/c/2=WA"))
	require.Equal(t, number(30.0), scoreOf(t, p, "secret/1=WA secret/a/1=AC secret/b/1=WA secret/c/1=WA secret/c/2=WA"))
	require.Equal(t, number(20.0), scoreOf(t, p, "secret/1=WA secret/a/1=WA secret/b/1=AC secret/c/1=WA secret/c/2=WA"))
	require.Equal(t, number(10.0), scoreOf(t, p, "secret/1=WA secret/a/1=WA secret/b/1=WA secret/c/1=WA secret/c/2=AC"))
}

func TestFaultsOfScoringGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change files
		want   string
	}{
		"points that nobody gave":      {files{"data/secret/easy/test_group.yaml": "full_feedback: true\n"}, "data/secret/easy/test_group.yaml: max_score is missing: want one, or max_score: unbounded in data/secret/test_group.yaml"},
		"more than there is":           {files{"data/secret/easy/test_group.yaml": "max_score: 21\n"}, "data/secret/test_group.yaml: the maximum scores of the parts add up to 101: want at most the group's 100"},
		"unbounded in a bounded group": {files{"data/secret/zworst/test_group.yaml": "max_score: unbounded\nscore_aggregation: sum\n"}, "data/secret/zworst/test_group.yaml: is unbounded and the group around it is not"},
		"unbounded pass-fail":          {files{"data/secret/easy/test_group.yaml": "max_score: unbounded\n"}, "data/secret/easy/test_group.yaml:1: max_score: a group with pass-fail aggregation cannot be unbounded"},
		"half a point":                 {files{"data/secret/easy/test_group.yaml": "max_score: 0.5\n"}, "data/secret/easy/test_group.yaml:1: max_score: 0.5: want a whole number"},
		"points as text":               {files{"data/secret/easy/test_group.yaml": "max_score: some\n"}, `data/secret/easy/test_group.yaml:1: max_score: "some": want a whole number or unbounded`},
		"another aggregation":          {files{"data/secret/easy/test_group.yaml": "max_score: 20\nscore_aggregation: max\n"}, `data/secret/easy/test_group.yaml:2: score_aggregation: "max": want one of pass-fail, sum, min`},
		"requires a later group":       {files{"data/secret/easy/test_group.yaml": "max_score: 20\nrequire_pass: secret/parts\n"}, `data/secret/easy/test_group.yaml: require_pass: "secret/parts": want sample or a group of secret that comes before this one`},
		"requires a sum":               {files{"data/secret/zworst/test_group.yaml": "max_score: 20\nrequire_pass: secret/parts\n"}, "data/secret/zworst/test_group.yaml: require_pass: secret/parts has no pass-fail aggregation"},
		"a scored sample":              {files{"data/sample/test_group.yaml": "max_score: 5\n"}, "data/sample/test_group.yaml:1: max_score: is only for groups of secret in problems of type scoring"},
		"scores without scoring":       {files{"problem.yaml": currentFiles["problem.yaml"]}, "data/secret/easy/test_group.yaml:1: max_score: is only for groups of secret in problems of type scoring"},
		"a part of pass-fail":          {files{"data/secret/test_group.yaml": "score_aggregation: pass-fail\n"}, "data/secret/parts/test_group.yaml: the group around it has pass-fail aggregation: want the same here"},
		"pass-fail without points":     {files{"data/secret/test_group.yaml": "max_score: unbounded\n", "data/secret/easy/test_group.yaml": "args: [a]\n"}, "data/secret/easy/test_group.yaml: a group with pass-fail aggregation needs a maximum score"},
		"a group in a group":           {files{"data/secret/parts/sub/test_group.yaml": "max_score: 1\n"}, "data/secret/parts/sub: is a group in a group: want groups in data/secret only"},
		"groups in sample":             {testCases("sample/more/1"), "data/sample: has groups: want tests only"},
		"tests beside groups":          {testCases("secret/1"), "data/secret: has both tests and groups: want one or the other"},
		"a test named like a folder":   {testCases("secret/parts/sub"), "data/secret/parts/sub: has the name of a test beside it"},
		"static validation":            {files{"data/secret/easy/test_group.yaml": "max_score: 20\nstatic_validation_score: 3\n"}, "data/secret/easy/test_group.yaml: static validators are not supported"},
		"the legacy file":              {files{"data/secret/easy/testdata.yaml": "on_reject: break\n"}, "data/secret/easy/testdata.yaml: is of another version of the format: want test_group.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, issues(t, scoringFiles().with(test.change)), test.want)
		})
	}
}

func TestSettingsOfSingleTests(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(testCases("secret/2")).with(files{
		"problem.yaml":                currentFiles["problem.yaml"] + "constants: {tolerance: 1e-3}\n",
		"data/secret/test_group.yaml": "args: [-v]\noutput_validator_args: [float_tolerance, \"{{tolerance}}\"]\n",
		"data/secret/2.yaml":          "args: [--fast, 'a b']\noutput_validator_args: []\nfull_feedback: true\nhint: try 0\ndescription: the zero\n",
		"data/secret/2.files/d/x.txt": "{{tolerance}}",
		"data/secret/2.png":           "image",
		"data/sample/3.interaction":   "> 1\n",
	}))
	require.Empty(t, p.Warnings)
	first, _ := p.Test("secret/1")
	require.Equal(t, []string{"-v"}, first.Args)
	require.Equal(t, grade.TokenOptions{Absolute: number(1e-3), Relative: number(1e-3)}, first.Tokens)
	second, _ := p.Test("secret/2")
	require.Equal(t, []string{"--fast", "a b"}, second.Args)
	require.Equal(t, grade.TokenOptions{}, second.Tokens)
	require.True(t, second.FullFeedback)
	require.Equal(t, "try 0", second.Hint)
	require.Equal(t, "the zero", second.Description)
	got, err := p.TestFiles(second)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "d/x.txt", got[0].Path)
	require.Equal(t, "{{tolerance}}", string(got[0].Data), "test data is taken as it is")
}

func TestRepeatedTolerancesAreRefusedSince202307(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"data/secret/test_group.yaml: float_tolerance is given 2 times: want it once"},
		issues(t, currentFiles.with(files{"data/secret/test_group.yaml": "output_validator_args: [float_tolerance, '1', float_tolerance, '2']\n"})))
}

func TestWhatLiesAroundIsNamed(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{
		"data/secret/notes.txt": "x", "data/secret/9.desc": "x", "data/more/1.in": "x", "data/x.in": "x", "data/secret/.gitkeep": "x",
		"data/secret/1.in~": "x", "data/secret/a b.in": "x", "data/invalid_input/1.in": "x", "submissions/a.py": "x", "include/x.py": "x",
	}))
	require.Equal(t, []string{
		"data/more: is ignored: want sample and secret",
		`data/secret: "a b.in" is ignored: want a name of letters, digits, dots, dashes and underscores`,
		"data/secret/9.desc: belongs to no test: want 9.in beside it",
		"data/secret/notes.txt: belongs to no test and is ignored",
		"data/x.in: is ignored: want tests in data/sample and data/secret",
		"include/x.py: is ignored: want folders named for languages",
		"submissions/a.py: is ignored: want submissions in folders such as accepted",
	}, warnings(p))
}

func TestAPackageWithoutSecretTests(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"data/secret: has no test: want at least one .in file with its .ans file"},
		issues(t, legacyFiles.with(testCases("sample/1")).with(files{"data/secret/1.in": "", "data/secret/1.ans": ""})))
}
