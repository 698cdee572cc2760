package judge

import (
	"bytes"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// lineBytes is the most that one line of a message can have.
const lineBytes = 300

// words are what people call verdicts.
var words = map[grade.Verdict]string{
	grade.WA: "wrong answer", grade.TLE: "time limit exceeded", grade.MLE: "memory limit exceeded",
	grade.OLE: "output limit exceeded", grade.RE: "run-time error", grade.IE: "internal error",
}

// testMessage says in one line what became of a test that was not accepted. A crash is mostly
// explained by the last line that the program wrote.
func testMessage(report grade.TestReport) string {
	parts := []string{report.Name, words[report.Verdict]}
	if report.Message != "" {
		parts = append(parts, report.Message)
	}
	if report.Verdict == grade.RE && report.Stderr != nil {
		if lines := nonEmptyLines(report.Stderr.Data); len(lines) > 0 {
			parts = append(parts, lines[len(lines)-1])
		}
	}
	return oneLine(strings.Join(parts, ": "))
}

// compilerMessage is the first line of the compiler that speaks of an error, or else its first line.
func compilerMessage(result sandbox.Result) string {
	compile := result.Compile
	if compile == nil || compile.Outcome != sandbox.OutcomeNonzeroExit {
		return oneLine(result.Message) // a limit, of which the compiler says nothing
	}
	lines := append(nonEmptyLines(compile.Stderr.Data), nonEmptyLines(compile.Stdout.Data)...)
	for _, line := range lines {
		if strings.Contains(strings.ToLower(line), "error") {
			return oneLine(line)
		}
	}
	if len(lines) > 0 {
		return oneLine(lines[0])
	}
	return oneLine(result.Message)
}

func nonEmptyLines(data []byte) (lines []string) {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, string(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
		}
	}
	return lines
}

// oneLine is the first line of text, at most lineBytes of it.
func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > lineBytes {
		line = strings.ToValidUTF8(line[:lineBytes], "") + "..."
	}
	return strings.TrimSpace(line)
}
