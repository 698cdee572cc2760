package judge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// unitTests judges programs that run unit tests of their own and report them.
type unitTests struct{}

func (unitTests) start(_ context.Context, _ grade.Test, given *sandbox.Test) (check, error) {
	nonce := rand.Text()
	given.Stdin = sandbox.Bytes(nonce)
	return func(_ context.Context, result sandbox.TestResult) (grade.Finding, error) {
		return ofUnitTests(nonce, asResult(result)), nil
	}, nil
}

// ofUnitTests reads a run of unit tests. Limits and signals decide first. Then the report does, whatever the exit code
// is: test frameworks have codes of their own. Without a report the run is RE.
func ofUnitTests(nonce string, run sandbox.Result) grade.Finding {
	output := run.Stdout
	run.Stdout.Truncated = false // the last line is kept whatever was cut
	ended, done := grade.OfRun(run)
	if done && run.Outcome != sandbox.OutcomeNonzeroExit && run.Outcome != sandbox.OutcomePIDsLimit {
		return ended
	}
	report, found := unitReport(nonce, output)
	switch count := report.Passed + len(report.Failed); {
	case !found:
		text := "the unit tests ended without a report"
		if done {
			text += ": " + ended.Message
		}
		return grade.Finding{Verdict: grade.RE, Message: text, Public: text}
	case report.Error != "":
		return grade.Finding{Verdict: grade.RE, Message: "the unit tests could not be run: " + report.Error, Public: "the unit tests could not be run"}
	case len(report.Failed) > 0:
		text := fmt.Sprintf("%d of %d unit tests failed", len(report.Failed), count)
		return grade.Finding{Verdict: grade.WA, Message: text + ": " + strings.Join(report.Failed, ", "), Public: text}
	case count == 0:
		return grade.Finding{Verdict: grade.RE, Message: "no unit test was run", Public: "no unit test was run"}
	case done: // all passed, and yet the program failed
		ended.Message = fmt.Sprintf("%d unit tests passed, and then the program failed: %s", count, ended.Message)
		ended.Public = ended.Message
		return ended
	}
	return grade.Finding{Verdict: grade.AC}
}

// unitReport finds the report in the last line of output.
func unitReport(nonce string, output sandbox.Stream) (report grade.UnitReport, found bool) {
	tail := bytes.TrimRight(output.Data[output.CutAt:], "\r\n")
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	content, found := bytes.CutPrefix(line, []byte(nonce+" "))
	if !found {
		return report, false
	}
	if err := json.Unmarshal(content, &report); err != nil || report.Passed < 0 {
		return grade.UnitReport{}, false
	}
	return report, true
}
