package main

import (
	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// exitNoAnswer is for a run that ended without an answer.
const exitNoAnswer = 1

// exitCodesHelp is the list of exit codes for people.
const exitCodesHelp = `Exit codes:
  0    the model answered
  1    the run ended without an answer: a bound was reached, the model or its provider declined or failed
  2    bad command line, no key, or a file that cannot be read
  125  our failure: Redis down, no worker, a file that could not be written
  130  interrupted by Ctrl-C; jobs are canceled and the transcript is saved
  141  the reader of our output went away`

// stopCode is the exit code for the end of a run.
func stopCode(stop agent.Stop) int {
	switch stop {
	case agent.StopAnswer:
		return 0
	case agent.StopCanceled:
		return cli.ExitInterrupted
	}
	return exitNoAnswer
}
