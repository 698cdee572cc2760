package main

import (
	"io"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// The exit codes that are not a program's own.
const (
	exitNotOK       = 1             // compile error; wait: a program was not ok
	exitUsage       = cli.ExitUsage // bad command line, or a job that is refused
	exitFull        = 75            // too much waits already; EX_TEMPFAIL of sysexits.h
	exitTimeout     = 124           // wall-clock or CPU-time limit, as timeout(1) has it
	exitFailure     = cli.ExitFailure
	exitInterrupted = cli.ExitInterrupted // Ctrl-C, or canceled by someone else
	exitOutOfMemory = 137                 // as a shell reports the kernel's SIGKILL
	exitBrokenPipe  = cli.ExitBrokenPipe
	exitOutputLimit = 153 // 128 + SIGXFSZ, as under ulimit -f
)

// exitCodesHelp is the same list for people.
const exitCodesHelp = `Exit codes of run and result:
  the program's own; 128+N when signal N killed it
  1    the program does not compile
  2    bad command line, or a job that is refused
  75   too much waits already in the queue or of the tenant: try again later
  124  the wall-clock or the CPU-time limit ended it
  125  our failure: Redis down, no such job, no result yet, the job could not be run
  130  canceled, by Ctrl-C or by someone else
  137  out of memory
  141  the reader of our output went away; the job is canceled
  153  ended for writing too much, where an operator sets output_kill
submit: 0, or 2, 75 and 125 with the same meaning.
wait: 0 when every program is ok, 1 when one is not, 125 when a result cannot be had.
With --json the field "result.outcome" tells them apart without doubt.`

// exitWith returns an error with which enqueue ends with a code; err is nil when all that matters has been said.
func exitWith(code int, err error) error { return cli.ExitWith(code, err) }

func usageError(err error) error { return cli.UsageError(err) }

func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }

// exitCode is what the process ends with after run returned err.
func exitCode(err error) int { return cli.ExitCode(err) }

// report writes what an error says, each line marked as ours.
func report(stderr io.Writer, err error) { cli.Report(stderr, "enqueue", err) }

// say writes one line of ours. Text from a sandbox may be in it.
func say(stderr io.Writer, format string, args ...any) { cli.Say(stderr, "enqueue", format, args...) }

// printable makes text from elsewhere safe to show on one line.
func printable(text string) string { return cli.Printable(text) }

// resultCode turns a result into the exit code of run and result.
func resultCode(result sandbox.Result) int {
	switch result.Outcome {
	case sandbox.OutcomeWallTimeout, sandbox.OutcomeCPUTimeout:
		return exitTimeout
	case sandbox.OutcomeOutOfMemory:
		return exitOutOfMemory
	case sandbox.OutcomeOutputLimit:
		return exitOutputLimit
	case sandbox.OutcomeCompileError:
		return exitNotOK
	case sandbox.OutcomeCanceled:
		return exitInterrupted
	case sandbox.OutcomeRejected:
		return exitUsage
	case sandbox.OutcomeInfraError:
		return exitFailure
	}
	if result.ExitCode < 0 || result.ExitCode > 255 {
		return exitFailure
	}
	return result.ExitCode
}
