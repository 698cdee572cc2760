package problem_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// options are those of an installation with the built-in languages and limits.
func options(t testing.TB) problem.GradingOptions {
	t.Helper()
	table, err := config.Default().Languages()
	require.NoError(t, err)
	return problem.GradingOptions{Languages: table, Defaults: sandbox.DefaultLimits(), Maxima: sandbox.DefaultMaxima()}
}

func grading(t testing.TB, p *problem.Problem, change func(*problem.GradingOptions)) *problem.Grading {
	t.Helper()
	o := options(t)
	if change != nil {
		change(&o)
	}
	g, err := p.Grading(o)
	require.NoError(t, err)
	return g
}

// gradingError is what is said of a package that cannot be judged.
func gradingError(t testing.TB, p *problem.Problem, change func(*problem.GradingOptions)) string {
	t.Helper()
	o := options(t)
	if change != nil {
		change(&o)
	}
	_, err := p.Grading(o)
	require.Error(t, err)
	return err.Error()
}

func own(t testing.TB, g *problem.Grading, p *problem.Problem, path string) sandbox.Program {
	t.Helper()
	made, err := g.Own(submission(t, p, path))
	require.NoError(t, err)
	return made
}

func ptr[T any](value T) *T { return &value }

func TestTheSuiteOfALegacyPackage(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/halves")
	g := grading(t, p, nil)
	require.Empty(t, g.Blobs)
	require.Empty(t, g.Warnings)
	lenient := grade.TokenOptions{Absolute: ptr(1e-6), HexFloats: true}
	strict := grade.TokenOptions{Absolute: ptr(0.0), HexFloats: true}
	require.Equal(t, grade.Suite{
		Name: "Halves",
		Tests: []grade.Test{
			{Name: "sample/1", Input: grade.Data{Inline: []byte("3\n")}, Answer: grade.Data{Inline: []byte("1.5\n")}, Tokens: lenient},
			{Name: "secret/01-even", Input: grade.Data{Inline: []byte("10\n")}, Answer: grade.Data{Inline: []byte("5\n")}, Tokens: lenient},
			{Name: "secret/edge/negative", Input: grade.Data{Inline: []byte("-1\n")}, Answer: grade.Data{Inline: []byte("-0.5\n")}, Tokens: strict},
		},
		Root:    p.Root,
		Checker: grade.Checker{Kind: grade.CheckTokens},
	}, g.Suite)
}

func TestTheProgramOfASubmission(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/halves")
	g := grading(t, p, nil)
	// 1.5 s and twice that for Python; ten times as much and 30 s by the clock; 60 s three times for the compiler.
	require.Equal(t, sandbox.Program{
		Language: "python", Main: "half.py",
		Files: []sandbox.File{{Path: "half.py", Data: []byte("print(int(input()) / 2)\n")}},
		Env:   map[string]string{"PYTHONUNBUFFERED": ""},
		Limits: sandbox.Overrides{
			Memory: ptr(int64(512 << 20)), CPUs: ptr(1.0),
			CPUTime: ptr(sandbox.Seconds(3 * time.Second)), WallTime: ptr(sandbox.Seconds(60 * time.Second)),
			CompileTime: ptr(sandbox.Seconds(3 * time.Minute)), Output: ptr(int64(8 << 20)), OutputKill: ptr(int64(8 << 20)),
		},
	}, own(t, g, p, "submissions/accepted/half.py"))
	require.Equal(t, 3*time.Second, g.TimeLimit("python"))
	require.Equal(t, 1500*time.Millisecond, g.TimeLimit("cpp"))

	several := own(t, g, p, "submissions/run_time_error/deep")
	require.Equal(t, "main.py", several.Main)
	require.Len(t, several.Files, 2)
}

func TestTheSuiteOfAPackageWithAValidator(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/steps")
	g := grading(t, p, nil)
	require.Len(t, g.Suite.Tests, 7)
	require.Equal(t, grade.Test{
		Name: "secret/2-large/1", Input: grade.Data{Inline: []byte("10\n")}, Answer: grade.Data{Inline: []byte("10\n")}, ValidatorFlags: []string{"large"},
	}, g.Suite.Tests[3])
	require.Equal(t, grade.CheckValidator, g.Suite.Checker.Kind)
	require.True(t, g.Suite.Checker.CustomScore)
	require.Len(t, g.Suite.Checker.Programs, 1)
	validator := g.Suite.Checker.Programs[0]
	require.Equal(t, "python", validator.Language)
	require.Equal(t, "validate.py", validator.Main)
	require.Equal(t, sandbox.Overrides{
		Memory: ptr(int64(2048 << 20)), CPUs: ptr(1.0),
		CPUTime: ptr(sandbox.Seconds(time.Minute)), WallTime: ptr(sandbox.Seconds(630 * time.Second)),
		CompileTime: ptr(sandbox.Seconds(3 * time.Minute)), OutputKill: ptr(int64(8 << 20)), FileBytes: ptr(int64(8 << 20)),
	}, validator.Limits)

	// include/python3 goes to Python, with the constant in its place.
	made := own(t, g, p, "submissions/accepted/steps.py")
	require.Equal(t, []string{"steps.py", "bounds.py"}, []string{made.Files[0].Path, made.Files[1].Path})
	require.Equal(t, "MOST = 100\n", string(made.Files[1].Data))
	require.Equal(t, "steps.py", made.Main)
}

func TestCheckers(t *testing.T) {
	t.Parallel()
	validated := legacyFiles.with(files{"problem.yaml": "name: Sum\nvalidation: custom\n", "output_validators/v.cpp": "int main() {}"})
	talking := validated.with(files{"problem.yaml": "name: Sum\nvalidation: custom interactive\n"})
	testlib := func(o *problem.GradingOptions) { o.Testlib = true }
	for name, test := range map[string]struct {
		files  files
		change func(*problem.GradingOptions)
		kind   grade.CheckerKind
		err    string
	}{
		"default":                   {legacyFiles, nil, grade.CheckTokens, ""},
		"validator":                 {validated, nil, grade.CheckValidator, ""},
		"interactive":               {talking, nil, grade.CheckInteractive, ""},
		"testlib":                   {validated, testlib, grade.CheckTestlib, ""},
		"testlib without validator": {legacyFiles, testlib, "", "problem.yaml: the checker testlib is for problems with an output validator that are not interactive"},
		"interactive testlib":       {talking, testlib, "", "problem.yaml: the checker testlib is for problems with an output validator that are not interactive"},
		"multi-pass":                {validated.with(files{"problem.yaml": "name: Sum\nvalidation: custom multi-pass\n"}), nil, "", "problem.yaml: multi-pass problems are not supported"},
		"with a script": {
			legacyFiles.with(files{"problem.yaml": "name: Sum\nvalidation: custom\n", "output_validators/v/build": "#!/bin/sh\n", "output_validators/v/v.cpp": "int main() {}"}),
			nil, "", "output_validators/v: brings a build or run script, which is not run here: want source files in one language",
		},
		"in no language": {
			legacyFiles.with(files{"problem.yaml": "name: Sum\nvalidation: custom\n", "output_validators/v.cobol": "x"}),
			nil, "", "output_validators/v.cobol: program output_validators/v.cobol: no file tells its language",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := load(t, test.files)
			if test.err != "" {
				require.Equal(t, test.err, gradingError(t, p, test.change))
				return
			}
			g := grading(t, p, test.change)
			require.Equal(t, test.kind, g.Suite.Checker.Kind)
			require.Len(t, g.Suite.Checker.Programs, len(p.OutputValidators))
		})
	}
}

func TestLargeDataLiesInBlobs(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("7\n", 513) // 1026 bytes
	dir := folder(t, legacyFiles.with(files{
		"data/secret/2.in": large, "data/secret/2.ans": large, "data/secret/3.in": large[:1024], "data/secret/3.ans": "7",
		"data/secret/3.files/dictionary.txt": large + "8\n",
	}))
	p, err := problem.Load(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	g := grading(t, p, nil)
	require.Len(t, g.Blobs, 2, "equal content is one blob")
	require.Equal(t, grade.BlobID([]byte(large)), g.Blobs[0].ID)
	require.EqualValues(t, 1026, g.Blobs[0].Size)
	want := grade.Data{Blob: grade.BlobID([]byte(large)), Size: 1026}
	require.Equal(t, want, g.Suite.Tests[1].Input)
	require.Equal(t, want, g.Suite.Tests[1].Answer)
	require.Equal(t, grade.Data{Inline: []byte(large[:1024])}, g.Suite.Tests[2].Input)
	require.Equal(t, "dictionary.txt", g.Suite.Tests[2].Files[0].Path)
	require.Equal(t, g.Blobs[1].ID, g.Suite.Tests[2].Files[0].Data.Blob)
	content, err := g.Blobs[0].Read()
	require.NoError(t, err)
	require.Equal(t, large, string(content))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "data/secret/2.in"), []byte(strings.Repeat("8\n", 513)), 0o600))
	_, err = g.Blobs[0].Read()
	require.EqualError(t, err, "read data/secret/2.in: it was changed after the package was loaded")
}

func TestManySmallDataDoNotFillTheSuite(t *testing.T) {
	t.Parallel()
	many := files{}
	for i := range 300 { // 300 inputs of 1 KiB, of which 256 KiB lie in the suite together with the answers
		name := "data/secret/" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		many[name+".in"], many[name+".ans"] = strings.Repeat("x", 1020)+name[len(name)-2:]+"\n\n", "1\n"
	}
	g := grading(t, load(t, legacyFiles.with(many)), nil)
	inline, blobs := int64(0), 0
	for _, test := range g.Suite.Tests {
		inline += int64(len(test.Input.Inline) + len(test.Answer.Inline))
		if test.Input.Blob != "" {
			blobs++
		}
	}
	require.LessOrEqual(t, inline, int64(256<<10))
	require.Equal(t, len(g.Blobs), blobs)
	require.Equal(t, 300-255, blobs) // 255 × (1024 + 2) is the most below 256 KiB
}

func TestAPartOfTheTests(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/steps")
	for pattern, want := range map[string][]string{
		"secret/1-small":    {"secret/1-small/1", "secret/1-small/2"},
		"secret/*/1":        {"secret/1-small/1", "secret/2-large/1"},
		"sample":            {"sample/1"},
		"{sample,secret}/1": {"sample/1"},
	} {
		g := grading(t, p, func(o *problem.GradingOptions) { o.Tests = pattern })
		var names []string
		for _, test := range g.Suite.Tests {
			names = append(names, test.Name)
		}
		require.Equal(t, want, names, pattern)
		require.Equal(t, want, g.Suite.Root.Tests())
		half := 0.5 // a validator may score, which counts for nothing
		findings := map[string]grade.Finding{}
		for _, name := range want {
			findings[name] = grade.Finding{Verdict: grade.AC, Score: &half}
		}
		graded := grade.Grade(g.Suite.Root, findings)
		require.Equal(t, grade.AC, graded.Verdict)
		require.Nil(t, graded.Score)
		findings[want[len(want)-1]] = grade.Finding{Verdict: grade.WA}
		require.Equal(t, grade.WA, grade.Grade(g.Suite.Root, findings).Verdict)
	}
	require.Equal(t, `no test matches "easy": the first of 7 tests is sample/1`,
		gradingError(t, p, func(o *problem.GradingOptions) { o.Tests = "easy" }))
}
