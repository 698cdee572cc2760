package grade

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// VerdictOf returns the verdict that the run alone gives, and false when it gives none
// and the output must be checked: the program ended with exit code 0 and broke no limit.
//
// Canceled, rejected and failed jobs are IE: nobody judged the submission. A program
// that lived with a refused process and exited with 0 is checked like any other.
func VerdictOf(outcome sandbox.Outcome, exitCode int) (Verdict, bool) {
	switch outcome {
	case sandbox.OutcomeOK:
		return NotRun, false
	case sandbox.OutcomePIDsLimit:
		if exitCode == 0 {
			return NotRun, false
		}
		return RE, true
	case sandbox.OutcomeNonzeroExit, sandbox.OutcomeSignaled, sandbox.OutcomeDiskFull:
		return RE, true
	case sandbox.OutcomeWallTimeout, sandbox.OutcomeCPUTimeout:
		return TLE, true
	case sandbox.OutcomeOutOfMemory:
		return MLE, true
	case sandbox.OutcomeOutputLimit:
		return OLE, true
	case sandbox.OutcomeCompileError:
		return CE, true
	case sandbox.OutcomeCanceled, sandbox.OutcomeRejected, sandbox.OutcomeInfraError:
		return IE, true
	}
	return IE, true
}

// Retryable tells whether running the same job again can give another verdict than IE: only
// after a failure of our own. A rejected job is rejected again, and a canceled one was meant to end.
func Retryable(outcome sandbox.Outcome) bool { return outcome == sandbox.OutcomeInfraError }

// OfRun is VerdictOf for a whole result, with a message. Standard output that was not kept
// whole is OLE: a checker must never see a part of it.
func OfRun(result sandbox.Result) (Finding, bool) {
	verdict, judged := VerdictOf(result.Outcome, result.ExitCode)
	if !judged && result.Stdout.Truncated {
		text := fmt.Sprintf("the output of %d bytes is more than was kept", result.Stdout.Total)
		return Finding{Verdict: OLE, Message: text, Public: text}, true
	}
	if !judged {
		return Finding{}, false
	}
	text := runMessage(result)
	return Finding{Verdict: verdict, Message: text, Public: text}, true
}

// runMessage prefers the sandbox's own sentence.
func runMessage(result sandbox.Result) string {
	switch {
	case result.Message != "":
		return result.Message
	case result.Outcome == sandbox.OutcomeSignaled && result.Signal != "":
		return "killed by " + result.Signal
	case result.Outcome == sandbox.OutcomeNonzeroExit:
		return fmt.Sprintf("exit code %d", result.ExitCode)
	case result.Outcome == sandbox.OutcomeCompileError && result.Compile != nil:
		return fmt.Sprintf("the compiler ended with %s, exit code %d", result.Compile.Outcome, result.Compile.ExitCode)
	}
	return string(result.Outcome)
}
