package explain

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// signalHints tell what a signal mostly means.
var signalHints = map[string]string{
	"SIGSEGV": "it used memory that is not its own: an index out of bounds, a bad or null pointer, or recursion without end",
	"SIGABRT": "it gave up by itself: a failed assertion, an uncaught C++ exception, a double free, or a runtime that found itself broken",
	"SIGFPE":  "it divided an integer by zero, or the result did not fit",
	"SIGILL":  "it ran an instruction that does not exist here",
	"SIGBUS":  "it used a part of a mapped file that does not exist, or an unaligned address",
	"SIGSYS":  "it made a system call that the sandbox forbids",
	"SIGKILL": "no limit was hit, so the program did it to itself",
	"SIGTERM": "no limit was hit, so the program did it to itself",
	"SIGPIPE": "it wrote to a pipe that nobody reads",
	"SIGTRAP": "it ran into a trap, as runtimes do when they find themselves broken",
}

// killedBySignal leaves out a runtime that aborts for its full heap, which has a note of its own.
func (f *facts) killedBySignal() bool {
	return f.Result.Outcome == sandbox.OutcomeSignaled && !f.heapFull()
}

func signaled(f *facts) string {
	if f.Result.Signal == "" {
		return "the program was ended: " + sentence(f.Result.Message) + " Run it again, with less if it ends so again"
	}
	text := fmt.Sprintf("the program was killed by %s (signal %d)", f.Result.Signal, f.Result.ExitCode-128)
	hint := signalHints[f.Result.Signal]
	if f.Result.Signal == "SIGKILL" && f.Result.Enforcement.GVisor { // which is ended as a whole for too many, and counts none
		hint = "it started more processes than it may, or did it to itself"
	}
	if hint != "" {
		text += ": " + hint
	}
	return text + ". Output that it had not flushed is lost; print to stderr, or flush, to see how far it got"
}
