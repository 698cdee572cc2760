package grade

import (
	"bytes"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// The exit codes that testlib.h has unless it is told others.
const (
	testlibOK = iota
	testlibWrong
	testlibPresentation
	testlibFail
	testlibDirt
	testlibPoints = 7
	testlibEOF    = 8
)

// TestlibExit reads the exit code of a testlib checker: 0 is AC; 1 (wrong), 2 (presentation), 4 (dirt
// after the answer) and 8 (unexpected end of file) are WA; 7 (points) is AC with a
// score, which its message tells; 3 (the checker or the jury's answer is at fault) and
// every other code are IE. Codes of partial answers (_pc) are among these: without TESTSYS they are the same
// as those of ok and wrong, so that no code of theirs can be trusted; points can.
func TestlibExit(code int) Verdict {
	switch code {
	case testlibOK, testlibPoints:
		return AC
	case testlibWrong, testlibPresentation, testlibDirt, testlibEOF:
		return WA
	case testlibFail:
		return IE
	}
	return IE
}

// OfTestlib reads the run of a testlib checker, whose message is its standard error. Points stand
// there after the word points.
func OfTestlib(run sandbox.Result) Finding {
	if !endedByItself(run) {
		return internalError("the checker failed: %s", runMessage(run))
	}
	message := feedbackText(run.Stderr.Data)
	verdict := TestlibExit(run.ExitCode)
	if verdict == IE {
		return internalError("the checker ended with exit code %d: %s", run.ExitCode, message)
	}
	finding := Finding{Verdict: verdict, Message: message}
	if run.ExitCode != testlibPoints {
		return finding
	}
	fields := bytes.Fields(run.Stderr.Data)
	if len(fields) > 0 && string(fields[0]) == "points" {
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return internalError("the checker gave points and no number")
	}
	score, ok := parseFloat(fields[0], false)
	if !ok {
		return internalError("the checker gave points and %s is no number", excerpt(fields[0], 0))
	}
	finding.Score = &score
	return finding
}
