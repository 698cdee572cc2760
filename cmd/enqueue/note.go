package main

import (
	"fmt"
	"io"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// printNotes says in a line each what happened to a program that its own output does not tell.
func printNotes(stderr io.Writer, result sandbox.Result) {
	if note := note(result); note != "" {
		say(stderr, "%s", note)
	}
	for _, refused := range result.RefusedFiles {
		say(stderr, "file %q does not come back: %s", refused.Path, refused.Reason)
	}
}

// note is the sentence for an outcome; a program that ended by itself needs none.
func note(result sandbox.Result) string {
	if plain := fmt.Sprintf("exited with code %d", result.ExitCode); result.Message == plain {
		return ""
	}
	if result.Message != "" {
		return result.Message
	}
	switch result.Outcome {
	case sandbox.OutcomeOK, sandbox.OutcomeNonzeroExit:
		return ""
	case sandbox.OutcomeSignaled:
		return "the program was killed by signal " + result.Signal
	case sandbox.OutcomeWallTimeout:
		return "the program was ended by the wall-clock limit"
	case sandbox.OutcomeCPUTimeout:
		return "the program was ended by the CPU-time limit"
	case sandbox.OutcomeOutOfMemory:
		return fmt.Sprintf("the program was killed by the memory limit of %s", humanSize(result.Enforcement.MemoryBytes))
	case sandbox.OutcomePIDsLimit:
		return fmt.Sprintf("the program was refused more than %d processes", result.Enforcement.PIDs)
	case sandbox.OutcomeOutputLimit:
		return "the program was ended because it wrote too much"
	case sandbox.OutcomeDiskFull:
		return "the program failed when /tmp or /workspace was full"
	case sandbox.OutcomeCompileError:
		return "the program does not compile"
	case sandbox.OutcomeCanceled:
		return "the job was canceled"
	case sandbox.OutcomeRejected:
		return "the job was refused"
	}
	return "the job could not be run: " + string(result.Outcome)
}
