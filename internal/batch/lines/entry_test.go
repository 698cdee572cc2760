package lines

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func ptr[T any](value T) *T { return &value }

// judging are the limits of a line that names none.
func judging() sandbox.Overrides {
	return sandbox.Overrides{
		CPUs: ptr(1.0), CPUTime: ptr(sandbox.Seconds(10 * time.Second)), WallTime: ptr(sandbox.Seconds(130 * time.Second)), CompileTime: ptr(sandbox.Seconds(90 * time.Second)),
		Output: ptr(8 * sandbox.MiB), OutputKill: ptr(8 * sandbox.MiB),
	}
}

func TestALineBecomesAJob(t *testing.T) {
	t.Parallel()
	buffered := map[string]string{"PYTHONUNBUFFERED": ""}
	for name, c := range map[string]struct {
		line string
		want batch.Entry
	}{
		"judged by its exit code": {`{"id":7,"group":"g","language":"c","code":"int main(){}"}`, batch.Entry{ID: "7", Group: "g", Job: jobs.Job{
			Program: sandbox.Program{Language: "c", Source: sandbox.Bytes("int main(){}"), Limits: judging()},
			Grade:   &grade.Task{Suite: &grade.Suite{Checker: grade.Checker{Kind: grade.CheckNone}, Tests: []grade.Test{{Name: "1"}}}},
		}}},
		"judged by one output": {`{"id":"a","language":"py","code":"x","stdin":"1 2","expected":"3","args":["-v"],"env":{"A":"b"}}`, batch.Entry{ID: "a", Job: jobs.Job{
			Program: sandbox.Program{Language: "python", Source: sandbox.Bytes("x"), Args: []string{"-v"}, Env: map[string]string{"A": "b", "PYTHONUNBUFFERED": ""}, Limits: judging()},
			Grade: &grade.Task{Suite: &grade.Suite{Checker: grade.Checker{Kind: grade.CheckTokens}, Tests: []grade.Test{
				{Name: "1", Input: grade.Data{Inline: sandbox.Bytes("1 2")}, Answer: grade.Data{Inline: sandbox.Bytes("3")}},
			}}},
		}}},
		"judged by tests": {`{"id":"a","language":"python","files":{"b.py":"y","main.py":{"base64":"eA=="}},"env":{"PYTHONUNBUFFERED":"1"},"expect":["AC","RTE"],
			"checker":{"case_sensitive":true,"float_tolerance":1e-6},"limits":{"cpu_seconds":2,"memory_bytes":67108864,"output_bytes":100},
			"tests":[{"stdin":"1","expected":"2"},{"name":"big","expected":"","args":["z"],"files":{"in.txt":"t"}}]}`, batch.Entry{
			ID: "a", Expected: []grade.Verdict{grade.AC, grade.RE}, Job: jobs.Job{
				Program: sandbox.Program{
					Language: "python", Files: []sandbox.File{{Path: "b.py", Data: sandbox.Bytes("y")}, {Path: "main.py", Data: sandbox.Bytes("x")}},
					Env: map[string]string{"PYTHONUNBUFFERED": "1"},
					Limits: sandbox.Overrides{
						CPUs: ptr(1.0), CPUTime: ptr(sandbox.Seconds(2 * time.Second)), WallTime: ptr(sandbox.Seconds(50 * time.Second)), CompileTime: ptr(sandbox.Seconds(90 * time.Second)),
						Memory: ptr(64 * sandbox.MiB), Output: ptr(int64(100)), OutputKill: ptr(int64(100)),
					},
				},
				Grade: &grade.Task{Suite: &grade.Suite{Checker: grade.Checker{Kind: grade.CheckTokens}, Tests: []grade.Test{
					{Name: "1", Input: grade.Data{Inline: sandbox.Bytes("1")}, Answer: grade.Data{Inline: sandbox.Bytes("2")}, Tokens: grade.TokenOptions{CaseSensitive: true, Absolute: ptr(1e-6), Relative: ptr(1e-6)}},
					{Name: "big", Answer: grade.Data{Inline: sandbox.Bytes{}}, Args: []string{"z"}, Files: []grade.DataFile{{Path: "in.txt", Data: grade.Data{Inline: sandbox.Bytes("t")}}}, Tokens: grade.TokenOptions{CaseSensitive: true, Absolute: ptr(1e-6), Relative: ptr(1e-6)}},
				}}},
			},
		}},
		"with another checker": {`{"id":"a","language":"node","code":"x","expected":"3","checker":"exact","expect":"WA"}`, batch.Entry{ID: "a", Expected: []grade.Verdict{grade.WA}, Job: jobs.Job{
			Program: sandbox.Program{Language: "node", Source: sandbox.Bytes("x"), Limits: judging()},
			Grade:   &grade.Task{Suite: &grade.Suite{Checker: grade.Checker{Kind: grade.CheckExact}, Tests: []grade.Test{{Name: "1", Answer: grade.Data{Inline: sandbox.Bytes("3")}}}}},
		}}},
		"tests without outputs": {`{"id":"a","language":"python","code":"x","checker":"none","tests":[{"stdin":"1"}]}`, batch.Entry{ID: "a", Job: jobs.Job{
			Program: sandbox.Program{Language: "python", Source: sandbox.Bytes("x"), Env: buffered, Limits: judging()},
			Grade:   &grade.Task{Suite: &grade.Suite{Checker: grade.Checker{Kind: grade.CheckNone}, Tests: []grade.Test{{Name: "1", Input: grade.Data{Inline: sandbox.Bytes("1")}}}}},
		}}},
	} {
		got, err := settings(t).entry([]byte(c.line))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestUnitTestsRunBesideTheSubmission(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line  string
		files []string
		args  []string
	}{
		"pytest":       {`{"id":"a","language":"python","code":"x=1","unit":{"framework":"pytest","code":"y"}}`, []string{".sandloop-pytest.py", "solution.py", "test_solution.py"}, []string{"test_solution.py"}},
		"with names":   {`{"id":"a","language":"python","code":"x=1","main":"mine.py","unit":{"framework":"pytest","code":"y","main":"test_it.py"}}`, []string{".sandloop-pytest.py", "mine.py", "test_it.py"}, []string{"test_it.py"}},
		"node":         {`{"id":"a","language":"js","files":{"lib/a.js":"x"},"unit":{"framework":"node:test","files":{"a.test.js":"y","b.js":"z"}}}`, []string{".sandloop-node_test.cjs", "lib/a.js", "a.test.js", "b.js"}, []string{"a.test.js"}},
		"a plain file": {`{"id":"a","language":"python","code":"x=1","unit":{"framework":"exit","files":{"a.py":"z","run.py":"y"},"main":"run.py"}}`, []string{".sandloop-exit.py", "solution.py", "run.py", "a.py"}, []string{"run.py", "a.py"}},
	} {
		got, err := settings(t).entry([]byte(c.line))
		require.NoError(t, err, name)
		var files []string
		for _, file := range got.Job.Program.Files {
			files = append(files, file.Path)
		}
		require.Equal(t, c.files, files, name)
		require.Equal(t, c.files[0], got.Job.Program.Main, name)
		require.Equal(t, c.args, got.Job.Program.Args, name)
		require.Equal(t, grade.CheckUnit, got.Job.Grade.Suite.Checker.Kind, name)
		require.Equal(t, []grade.Test{{Name: "unit"}}, got.Job.Grade.Suite.Tests, name)
	}
}

func TestWhatALineLeavesOpenComesFromTheCommand(t *testing.T) {
	t.Parallel()
	s := settings(t)
	s.Language, s.Mode, s.KeepOutput = "node", grade.Everything, 10
	s.Limits = sandbox.Overrides{CPUTime: ptr(sandbox.Seconds(time.Second)), Memory: ptr(128 * sandbox.MiB), CPUs: ptr(2.0)}
	got, err := s.entry([]byte(`{"id":"a","code":"x","limits":{"memory_bytes":67108864}}`))
	require.NoError(t, err)
	require.Equal(t, "node", got.Job.Program.Language)
	require.Equal(t, grade.Everything, got.Job.Grade.Mode)
	require.Equal(t, 10, got.Job.Grade.KeepOutput)
	require.Equal(t, sandbox.Overrides{
		CPUs: ptr(2.0), CPUTime: ptr(sandbox.Seconds(time.Second)), WallTime: ptr(sandbox.Seconds(40 * time.Second)), CompileTime: ptr(sandbox.Seconds(90 * time.Second)),
		Memory: ptr(64 * sandbox.MiB), Output: ptr(8 * sandbox.MiB), OutputKill: ptr(8 * sandbox.MiB),
	}, got.Job.Program.Limits)
}

func TestDefaultsStayWithinWhatIsAllowed(t *testing.T) {
	t.Parallel()
	s := settings(t)
	s.Maxima.CPUs, s.Maxima.CPUTime, s.Maxima.WallTime, s.Maxima.Output, s.Maxima.OutputKill = 0.5, 5*time.Second, 20*time.Second, 1000, 500
	s.Maxima.CompileTime = 40 * time.Second
	got, err := s.entry([]byte(`{"id":"a","language":"python","code":"x"}`))
	require.NoError(t, err)
	require.Equal(t, sandbox.Overrides{
		CPUs: ptr(0.5), CPUTime: ptr(sandbox.Seconds(5 * time.Second)), WallTime: ptr(sandbox.Seconds(20 * time.Second)), CompileTime: ptr(sandbox.Seconds(40 * time.Second)),
		Output: ptr(int64(1000)), OutputKill: ptr(int64(500)),
	}, got.Job.Program.Limits)
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	const ok = `"id":"a","language":"python","code":"x"`
	for line, want := range map[string]string{
		`[1]`:                              `line 1: is a JSON array: want an object`,
		`null`:                             `line 1: is null: want an object`,
		`{"id":"a"`:                        `line 1: ends in the middle of the JSON object`,
		`{"id":"a"} {}`:                    `line 1: something follows the object at byte 12: want one object a line`,
		`{"id":"a",}`:                      `line 1: is no JSON from byte 11 on`,
		`{` + ok + `,"Stdin":"x"}`:         `line 1 ("a"): Stdin: is an unknown field: want one of id, group, language, code`,
		`{"language":"python","code":"x"}`: `line 1: id: is not given: want a name that no other line has`,
		`{"id":1.5,"language":"python","code":"x"}`:                                    `id: 1.5: want a string or a whole number`,
		`{"id":"a\nb","language":"python","code":"x"}`:                                 `id: "a\nb" holds the unprintable character U+000A`,
		`{` + ok + `,"group":7}`:                                                       `group: is a JSON number: want a string`,
		`{"id":"a","code":"x"}`:                                                        `language: is not given: want it here, or --language for all lines`,
		`{"id":"a","language":"cobol","code":"x"}`:                                     `language: "cobol" is unknown: want one of bash, c, cpp, go, java`,
		`{"id":"a","language":"python"}`:                                               `code: want either code or files`,
		`{` + ok + `,"files":{"a.py":"x"}}`:                                            `code: want either code or files`,
		`{"id":"a","language":"python","files":{"a.py":"x"}}`:                          `main: no file is named "main.py"`,
		`{"id":"a","language":"python","files":{"../a":"x"},"main":"a"}`:               `files[0].path: "../a" is not a clean relative path`,
		`{"id":"a","language":"python","code":7}`:                                      `code: is a JSON number: want a string or {"base64": "..."}`,
		`{` + ok + `,"args":"x"}`:                                                      `args: is a JSON string: want an array`,
		`{` + ok + `,"env":{"A":1}}`:                                                   `env: is a JSON number: want a string`,
		`{` + ok + `,"tests":[]}`:                                                      `tests: is empty: want a test`,
		`{` + ok + `,"tests":[{"expected":"x"},{"stdin":"x"}]}`:                        `tests[1].expected: is not given: want the right output, or "checker": "none"`,
		`{` + ok + `,"tests":[{"expected":"x"}],"stdin":"y"}`:                          `stdin: is given beside tests`,
		`{` + ok + `,"tests":[{"expected":"x","input":"y"}]}`:                          `tests[0].input: is an unknown field: want one of name, stdin, expected, args, files`,
		`{` + ok + `,"tests":[{"name":"x","expected":""},{"name":"x","expected":""}]}`: `tests[1].name: "x" is given twice`,
		`{` + ok + `,"tests":[{"expected":"","args":["\u0000"]}]}`:                     `tests[0]: args[0]: holds a NUL byte`,
		`{` + ok + `,"expected":"x","checker":"none"}`:                                 `expected: is given, and the checker "none" looks at no output`,
		`{` + ok + `,"checker":"tokens"}`:                                              `expected: is not given`,
		`{` + ok + `,"expected":"x","checker":"fuzzy"}`:                                `checker: "fuzzy" is unknown: want one of ["tokens" "exact" "text" "none"]`,
		`{` + ok + `,"expected":"x","checker":{"kind":"exact","case_sensitive":true}}`: `checker: "exact" has no options`,
		`{` + ok + `,"expected":"x","checker":{"float_tolerance":-1}}`:                 `checker.float_tolerance: -1: want a number that is not negative`,
		`{` + ok + `,"expected":"x","checker":{"tolerance":1}}`:                        `checker.tolerance: is an unknown field`,
		`{` + ok + `,"limits":{"memory_bytes":1}}`:                                     `limits.memory_bytes: 1 is not allowed: want 33554432 to 4294967296`,
		`{` + ok + `,"limits":{"cpu_seconds":1e9}}`:                                    `limits.cpu_seconds: 277777h46m40s is not allowed`,
		`{` + ok + `,"limits":{"memory":"1g"}}`:                                        `limits.memory: is an unknown field: want one of cpu_seconds, wall_seconds`,
		`{` + ok + `,"expect":"OK"}`:                                                   `expect: "OK": want AC, WA, TLE, MLE, OLE, RE or CE`,
		`{` + ok + `,"expect":["AC","IE"]}`:                                            `expect: "IE": want AC`,
		`{` + ok + `,"expect":[]}`:                                                     `expect: []: want a verdict or a list of them`,
		`{` + ok + `,"unit":{"framework":"junit","code":"x"}}`:                         `unit.framework: "junit" is unknown`,
		`{` + ok + `,"unit":{"framework":"pytest"}}`:                                   `unit.code: want either code or files with the tests`,
		`{` + ok + `,"unit":{"framework":"pytest","code":"x"},"stdin":"y"}`:            `stdin: is given beside unit`,
		`{` + ok + `,"unit":{"framework":"pytest","files":{"a.py":"x"}}}`:              `unit.files: none is named like a file with tests`,
		`{` + ok + `,"unit":{"framework":"exit","files":{"a.py":"x"}}}`:                `unit.main: no file is named "test_solution.py": want one of unit.files`,
		`{` + ok + `,"unit":{"framework":"node:test","code":"x"}}`:                     `unit.framework: "node:test" does not run python`,
		`{"id":"a","language":"python","code":"` + strings.Repeat("x", 1<<20) + `"}`:   `is a job of 1048`,
		`{"id":"a","language":"python","code":"` + strings.Repeat("x", 2<<20) + `"}`:   `line 1: is 2097192 bytes: want at most 2097152`,
	} {
		count, got := check(t, settings(t), line)
		require.Zero(t, count, "%.200s", line)
		require.Contains(t, got, want, "%.200s", line)
		require.NotContains(t, got, "\n", "%.200s", line)
	}
}
