package judge

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// guessing is a game about the number in the input, with 7 guesses from 1 to 100.
func guessing(n int) *grade.Suite {
	suite := &grade.Suite{Name: "guess", Checker: grade.Checker{Kind: grade.CheckInteractive, Programs: []sandbox.Program{cpp(`#include <fstream>
#include <iostream>
#include <string>
int main(int argc, char **argv) {
    std::ifstream input(argv[1]);
    std::ofstream message(std::string(argv[3]) + "judgemessage.txt");
    int number, guess;
    if (!(input >> number)) return 1;
    for (int i = 0; i < 7; i++) {
        if (!(std::cin >> guess)) { message << "no guess"; return 43; }
        if (guess == number) { std::cout << "right" << std::endl; return 42; }
        std::cout << (guess < number ? "more" : "less") << std::endl;
    }
    message << "too many guesses";
    return 43;
}
`)}}}
	for i := range n {
		number := inline(fmt.Sprintf("%d\n", 1+(i*37+99)%100))
		suite.Tests = append(suite.Tests, grade.Test{Name: fmt.Sprintf("secret/%02d", i), Input: number})
	}
	return suite
}

func TestInteractionsInRealSandboxes(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	for _, tt := range []struct {
		name    string
		program sandbox.Program
		want    grade.Verdict
		message string
	}{
		{"halves", python(
			"low, high = 1, 100",
			"while True:",
			"    print((low + high) // 2)",
			"    said = input()",
			"    if said == 'right': break",
			"    if said == 'more': low = (low + high) // 2 + 1",
			"    else: high = (low + high) // 2 - 1",
		), grade.AC, ""},
		{"counts until it is rejected, and crashes", python("n = 0", "while True: print(n); n += 1; input()"), grade.WA, "secret/00: wrong answer: too many guesses"},
		{"counts on", python("import time", "for n in range(7): print(n)", "time.sleep(1)"), grade.WA, "secret/00: wrong answer: too many guesses"},
		{"ends early", python("print(1)"), grade.WA, "secret/00: wrong answer: no guess"},
		{"crashes", python("print(1); input(); 1 // 0"), grade.RE, "secret/00: run-time error: exited with code 1: ZeroDivisionError: "},
		{"hangs", python("import time", "print(1); time.sleep(60)"), grade.TLE, "secret/00: time limit exceeded: stopped at the wall-clock limit of 1 s"},
		{"spins", python("while True: pass"), grade.TLE, "secret/00: time limit exceeded: stopped at the "},
		{"closes its output and hangs", python("import os, time", "os.close(1); time.sleep(60)"), grade.WA, "secret/00: wrong answer: no guess"},
		{"closes its input", python("import os", "os.close(0); print(1); print(2)"), grade.WA, "secret/00: wrong answer: no guess"},
		{"takes too much memory", python("print(1); x = b'x' * (200 << 20)"), grade.MLE, "secret/00: memory limit exceeded: the kernel killed " + testenv.OOMVictim() + " for the memory limit of 64 MiB"},
	} {
		suite := guessing(2)
		suite.Tests[0].WallTime, suite.Tests[0].CPUTime = ptr(sandbox.Seconds(8*time.Second)), ptr(sandbox.Seconds(8*time.Second))
		if tt.want == grade.TLE {
			suite.Tests[0].WallTime = ptr(sandbox.Seconds(time.Second))
		}
		report := d.judged(t, limited(tt.program), suite)
		require.Equal(t, tt.want, report.Verdict, "%s: %s", tt.name, report.Message)
		require.Contains(t, report.Message, tt.message, tt.name)
	}
}

func TestAFloodOfASubmissionNobodyListensTo(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := guessing(1)
	suite.Checker.Programs[0] = python("import sys, time", "time.sleep(1)", "sys.stdin.read()", "sys.exit(43)")
	report := d.judged(t, limited(python("while True: print('x' * 1000)")), suite)
	require.Equal(t, grade.OLE, report.Verdict, report.Message)
	require.Equal(t, "secret/00: output limit exceeded: stopped when a stream passed the limit of 1 MiB", report.Message)
	require.Len(t, report.Tests[0].Stdout.Data, 2048)
}

func TestAnInteractiveValidatorThatFails(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	suite := guessing(1)
	suite.Checker.Programs[0] = python("input()", "1 // 0")
	report := d.judged(t, python("print(1); input()"), suite)
	require.Equal(t, grade.IE, report.Verdict)
	require.Contains(t, report.Message, "secret/00: internal error: output validator in python: the output validator ended with exit code 1: want 42 for right or 43 for wrong; its stderr begins with \"Traceback")
}

// Whether a crash came before or after the rejection does not depend on whose result is faster.
func TestWhoEndedFirstIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	d := setupDocker(t)
	for message, program := range map[string]sandbox.Program{
		"too many guesses":                cpp("#include <iostream>\n#include <string>\nint main() { std::string said; for (;;) { std::cout << 0 << std::endl; if (!std::getline(std::cin, said)) return 9; } }"),
		"exited with code 9":              cpp("#include <unistd.h>\nint main() { _exit(9); }"),
		"no guess":                        cpp("int main() {}"),
		"killed by SIGABRT":               cpp("#include <cstdlib>\nint main() { abort(); }"),
		"stopped at the wall-clock limit": cpp("#include <unistd.h>\nint main() { pause(); }"),
	} {
		suite := guessing(8)
		for i := range suite.Tests {
			suite.Tests[i].WallTime = ptr(sandbox.Seconds(500 * time.Millisecond))
			if message == "too many guesses" {
				suite.Tests[i].WallTime = nil
			}
		}
		_, report, err := d.Judge.Judge(t.Context(), program, grade.Task{Suite: suite, Mode: grade.Everything})
		require.NoError(t, err)
		require.Len(t, report.Tests, 8)
		for _, test := range report.Tests {
			require.Contains(t, test.Message, message, "%s: %s", test.Name, test.Verdict)
		}
	}
}
