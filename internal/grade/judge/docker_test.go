package judge

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// inDocker is a judge whose runner is the real one.
type inDocker struct {
	*Judge
	runner *docker.Runner
}

func setupDocker(t *testing.T) *inDocker {
	t.Helper()
	testenv.Except(t, "runsc", map[string]string{"TestValidatorsInRealSandboxes": "no container is used twice, so each submission has a validator's sandbox of its own"})
	image := testenv.Image(t)
	languages, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "python", Image: image, File: "main.py", Run: []string{"python3", "{file}"}, Env: map[string]string{"PYTHONUNBUFFERED": "1"}},
		{Name: "cpp", Image: image, File: "main.cpp", Compile: []string{"g++", "-O1", "-o", "{out}", "{file}"}, Run: []string{"{out}"}},
	})
	require.NoError(t, err)
	limits, maxima := sandbox.DefaultLimits(), sandbox.DefaultMaxima()
	limits.CompileTime = min(testenv.Scale(t, time.Minute), maxima.CompileTime)
	limits.CPUs = 1
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	runner, err := docker.New(t.Context(), through, docker.Options{
		Languages: languages, Defaults: limits, Maxima: maxima, InitPath: testenv.InitPath(t),
		Runtime: testenv.Runtime(),
		Worker:  "test", Installation: "test-" + rand.Text(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	j := New(Options{Runner: runner, Blobs: &fakeBlobs{}, Defaults: limits, Maxima: maxima, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		require.NoError(t, j.Close(ctx))
		require.NoError(t, runner.Close(ctx))
		require.Zero(t, runner.Stats().Open)
		_ = through.VolumeRemove(ctx, runner.InitVolumes()[0], false) // another test's may be the same one
		require.NoError(t, through.Close())
	})
	return &inDocker{j, runner}
}

// judged judges a submission by a suite and returns the report.
func (d *inDocker) judged(t *testing.T, p sandbox.Program, suite *grade.Suite) *grade.Report {
	t.Helper()
	_, report, err := d.Judge.Judge(t.Context(), p, grade.Task{Suite: suite})
	require.NoError(t, err)
	return report
}

func python(lines ...string) sandbox.Program {
	return sandbox.Program{Language: "python", Source: sandbox.Bytes(strings.Join(lines, "\n") + "\n")}
}

func cpp(source string) sandbox.Program {
	return sandbox.Program{Language: "cpp", Source: sandbox.Bytes(source)}
}

// limited gives a program the limits of a contest.
func limited(p sandbox.Program) sandbox.Program {
	p.Limits.CPUTime, p.Limits.WallTime = ptr(sandbox.Seconds(500*time.Millisecond)), ptr(sandbox.Seconds(8*time.Second))
	p.Limits.Memory, p.Limits.OutputKill = ptr(64*sandbox.MiB), ptr(sandbox.MiB)
	return p
}

// doubling wants twice the number that it gives.
func doubling() *grade.Suite {
	return &grade.Suite{Name: "double", Tests: []grade.Test{
		{Name: "secret/1", Input: inline("4\n"), Answer: inline("8\n")},
		{Name: "secret/2", Input: inline("-3\n"), Answer: inline("-6\n")},
	}}
}

func TestVerdictsInRealSandboxes(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	for _, tt := range []struct {
		name    string
		program sandbox.Program
		want    grade.Verdict
		message string
	}{
		{"python", python("print(2 * int(input()))"), grade.AC, ""},
		{"cpp", cpp("#include <iostream>\nint main() { long n; std::cin >> n; std::cout << 2 * n; }"), grade.AC, ""},
		{"wrong for negative numbers", python("print(2 * abs(int(input())))"), grade.WA, `secret/2: wrong answer: line 1, column 1, token 1: got "6", want "-6"`},
		{"crash", python("print(1 // 0)"), grade.RE, "secret/1: run-time error: exited with code 1: ZeroDivisionError: "},
		{"signal", cpp("#include <cstdlib>\nint main() { abort(); }"), grade.RE, "secret/1: run-time error: killed by SIGABRT"},
		{"endless", python("while True: pass"), grade.TLE, "secret/1: time limit exceeded: stopped at the CPU-time limit of 0.5 s"},
		{"asleep", python("import time; time.sleep(60)"), grade.TLE, "secret/1: time limit exceeded: stopped at the wall-clock limit of 1 s"},
		{"memory", python("x = b'x' * (200 << 20)"), grade.MLE, "secret/1: memory limit exceeded: the kernel killed " + testenv.OOMVictim() + " for the memory limit of 64 MiB"},
		{"output", python("while True: print('x' * 1000)"), grade.OLE, "secret/1: output limit exceeded: stopped when a stream passed the limit of 1 MiB"},
		{"output that was cut", python("print('8' + ' ' * 100000)"), grade.OLE, "secret/1: output limit exceeded: the output of 100002 bytes is more than was kept"},
		{"compile error", cpp("int main() { return x; }"), grade.CE, "main.cpp:1:21: error: 'x' was not declared in this scope"},
		{"unknown language", sandbox.Program{Language: "cobol", Source: sandbox.Bytes("x")}, grade.IE, `language "cobol" is unknown: want one of cpp, python`},
	} {
		suite := doubling()
		if tt.name == "asleep" {
			suite.Tests[0].WallTime = ptr(sandbox.Seconds(time.Second))
		}
		report := d.judged(t, limited(tt.program), suite)
		require.Equal(t, tt.want, report.Verdict, "%s: %s", tt.name, report.Message)
		if tt.message == "" {
			require.Empty(t, report.Message, tt.name)
			continue
		}
		// gcc quotes as the locale wants.
		require.Contains(t, strings.NewReplacer("‘", "'", "’", "'").Replace(report.Message), tt.message, tt.name)
	}
}

// nearValidator accepts what is at most the flag's number away from the answer, and explains itself.
const nearValidator = `#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
int main(int argc, char **argv) {
    if (argc != 5) return 1;
    std::ifstream answer(argv[2]);
    std::ofstream message(std::string(argv[3]) + "judgemessage.txt");
    double want, got;
    if (!(answer >> want)) { std::cerr << "no answer\n"; return 2; }
    if (!(std::cin >> got)) { message << "no number"; return 43; }
    message << "off by " << std::fabs(want - got);
    return std::fabs(want - got) <= std::stod(argv[4]) ? 42 : 43;
}
`

func TestValidatorsInRealSandboxes(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := doubling()
	for i := range suite.Tests {
		suite.Tests[i].ValidatorFlags = []string{"0.5"}
	}
	suite.Checker = grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{cpp(nearValidator)}}
	report := d.judged(t, python("print(2 * int(input()) + 0.25)"), suite)
	require.Equal(t, grade.AC, report.Verdict, report.Message)
	require.Equal(t, "off by 0.25", report.Tests[1].Message)

	report = d.judged(t, python("print(2 * int(input()) + 0.75)"), suite)
	require.Equal(t, "secret/1: wrong answer: off by 0.75", report.Message)
	report = d.judged(t, python("print('x')"), suite)
	require.Equal(t, "secret/1: wrong answer: no number", report.Message)
	require.EqualValues(t, 4, d.runner.Stats().ColdStarts, "three submissions and one validator")

	suite.Tests[0].Answer = grade.Data{}
	report = d.judged(t, python("print(8)"), suite)
	require.Equal(t, grade.IE, report.Verdict)
	require.Contains(t, report.Message, `output validator in cpp: the output validator ended with exit code 2: want 42 for right or 43 for wrong; its stderr begins with "no answer"`)

	suite.Checker.Programs[0] = cpp("int main() { return y; }")
	report = d.judged(t, python("print(8)"), suite)
	require.Equal(t, grade.IE, report.Verdict)
	require.Contains(t, report.Message, "output validator in cpp: the output validator failed: compile: exited with code 1")
}

func TestScoringValidatorInARealSandbox(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := doubling()
	suite.Checker = grade.Checker{Kind: grade.CheckValidator, CustomScore: true, Programs: []sandbox.Program{python(
		"import sys",
		"output = sys.stdin.read()",
		"open(sys.argv[3] + 'score.txt', 'w').write(str(len(output) / 2))",
		"open(sys.argv[3] + 'teammessage.txt', 'w').write('long enough')",
		"sys.exit(42)",
	)}}
	report := d.judged(t, python("print(input() * 3, end='')"), suite)
	require.Equal(t, grade.AC, report.Verdict, report.Message)
	require.InDelta(t, 1.5+3, *report.Score, 0, "444 and -3-3-3")
	require.Equal(t, "long enough", report.Tests[0].Public)
}

func TestTestlibCheckerInARealSandbox(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := doubling()
	suite.Checker = grade.Checker{Kind: grade.CheckTestlib, Programs: []sandbox.Program{cpp(`#include <fstream>
#include <iostream>
int main(int argc, char **argv) {
    std::ifstream input(argv[1]), output(argv[2]), answer(argv[3]);
    int asked, got, want;
    input >> asked;
    if (!(answer >> want) || want != 2 * asked) { std::cerr << "FAIL jury is wrong\n"; return 3; }
    if (!(output >> got)) { std::cerr << "wrong output format Expected integer\n"; return 2; }
    if (got != want) { std::cerr << "wrong answer expected " << want << ", found " << got << "\n"; return 1; }
    std::cerr << "ok " << got << "\n";
}
`)}}
	require.Equal(t, grade.AC, d.judged(t, python("print(2 * int(input()))"), suite).Verdict)
	require.Equal(t, "secret/2: wrong answer: wrong answer expected -6, found 6", d.judged(t, python("print(2 * abs(int(input())))"), suite).Message)
	require.Equal(t, "secret/1: wrong answer: wrong output format Expected integer", d.judged(t, python("print('x')"), suite).Message)
	suite.Tests[0].Answer = inline("9")
	report := d.judged(t, python("print(9)"), suite)
	require.Equal(t, grade.IE, report.Verdict)
	require.Equal(t, "secret/1: internal error: checker in cpp: the checker ended with exit code 3: FAIL jury is wrong", report.Message)
}

func TestUnitTestsInARealSandbox(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := &grade.Suite{Tests: []grade.Test{{Name: "unit"}}, Checker: grade.Checker{Kind: grade.CheckUnit}}
	driver := func(double string) sandbox.Program {
		return python(
			"import sys, json; nonce = sys.stdin.readline().strip()",
			"def double(n): return "+double,
			"failed = [name for name, n, want in (('one', 1, 2), ('two', 2, 4)) if double(n) != want]",
			"print('chatter'); print(nonce, json.dumps({'passed': 2 - len(failed), 'failed': failed}))",
			"sys.exit(len(failed))",
		)
	}
	require.Equal(t, grade.AC, d.judged(t, driver("2 * n"), suite).Verdict)
	report := d.judged(t, driver("n * n"), suite)
	require.Equal(t, grade.WA, report.Verdict)
	require.Equal(t, "unit: wrong answer: 1 of 2 unit tests failed: one", report.Message)
	report = d.judged(t, driver("sys.exit(0)"), suite)
	require.Equal(t, grade.RE, report.Verdict)
	require.Equal(t, "unit: run-time error: the unit tests ended without a report", report.Message)
}
