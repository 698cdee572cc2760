package live

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// The exit codes of what we ended, and of what a signal did.
const (
	exitKilled    = -1
	exitException = 1
	exitSIGKILL   = 128 + 9
)

// judge fills in how a cell ended. What ended it goes first, then what the kernel did on the way, then how the
// code ended, as for any job.
func (i *Interpreter) judge(c *current, stopped stop, used usage, r sandbox.Result) sandbox.Result {
	r = i.ownEnd(c, r)
	limits := r.Enforcement
	switch {
	case stopped == stopWall:
		r.Outcome, r.ExitCode, r.Signal, r.TimedOut = sandbox.OutcomeWallTimeout, exitKilled, "", true
		r.Message = fmt.Sprintf("stopped at the wall-clock limit of %g s", c.cell.WallTime.Seconds())
	case stopped == stopCancel:
		r.Outcome, r.ExitCode, r.Signal, r.TimedOut, r.Message = sandbox.OutcomeCanceled, exitKilled, "", false, "canceled while it ran"
	case i.lostForMemory():
		r.Outcome, r.Message = sandbox.OutcomeOutOfMemory, i.ended.Message
	case used.OOMKills > 0:
		r.Outcome = sandbox.OutcomeOutOfMemory
		r.Message = "the kernel killed a process for the memory limit of " + size(limits.MemoryBytes)
	case used.PIDsDenied > 0:
		r.Outcome = sandbox.OutcomePIDsLimit
		r.Message = fmt.Sprintf("a process or thread was refused: the limit is %d at once", limits.PIDs)
	case used.DiskFull == "/tmp" && r.ExitCode != 0:
		r.Outcome, r.Message = sandbox.OutcomeDiskFull, "/tmp was full: the limit is "+size(limits.TmpBytes)
	case used.DiskFull == "/workspace" && r.ExitCode != 0:
		r.Outcome, r.Message = sandbox.OutcomeDiskFull, "/workspace was full: the limit is "+size(limits.WorkspaceBytes)
	}
	return r
}

// ownEnd fills in how the code ended, leaving aside what the kernel did on the way.
func (i *Interpreter) ownEnd(c *current, r sandbox.Result) sandbox.Result {
	switch {
	case c.end.Type == typeDone && c.end.Status == statusExit:
		return exited(exitCode(c.end.Code), r)
	case c.end.Type == typeDone && c.end.Status == statusError:
		r.Outcome, r.ExitCode, r.Message = sandbox.OutcomeNonzeroExit, exitException, "an exception was not caught"
	case c.end.Type == typeDone:
		r.Outcome = sandbox.OutcomeOK
	case i.ended == nil:
		r.Outcome, r.ExitCode, r.Signal, r.Message = sandbox.OutcomeSignaled, exitSIGKILL, "SIGKILL", "killed: "+i.Reason()
	case i.ended.TimedOut:
		r.Outcome, r.ExitCode, r.TimedOut, r.Message = sandbox.OutcomeWallTimeout, exitKilled, true, "stopped: the time of the interpreter was over"
	case i.ended.Signal != "":
		r.Outcome, r.ExitCode, r.Signal = sandbox.OutcomeSignaled, i.ended.ExitCode, i.ended.Signal
		r.Message = "killed by " + i.ended.Signal
	default:
		return exited(i.ended.ExitCode, r)
	}
	return r
}

func exited(code int, r sandbox.Result) sandbox.Result {
	r.Outcome, r.ExitCode = sandbox.OutcomeOK, code
	if code != 0 {
		r.Outcome, r.Message = sandbox.OutcomeNonzeroExit, fmt.Sprintf("exited with code %d", code)
	}
	return r
}

// exitCode is what the kernel makes of a code.
func exitCode(code int) int { return code & 0xff }

// lostForMemory tells that the kernel ended the sandbox as a whole for its memory, as it does on gVisor, so that nothing in it counted that.
func (i *Interpreter) lostForMemory() bool {
	return i.ended != nil && i.ended.Outcome == sandbox.OutcomeOutOfMemory && i.ended.OOMKills == 0
}

// endReason tells how a driver ended.
func (i *Interpreter) endReason() string {
	oomKills, _ := i.untold()
	switch ended := *i.ended; {
	case ended.TimedOut:
		return "its time was over"
	case i.lostForMemory():
		return ended.Message
	case oomKills > 0:
		return "the kernel killed it for the memory limit of " + size(i.enforcement().MemoryBytes)
	case ended.Signal != "":
		return "it was killed by " + ended.Signal
	default:
		return fmt.Sprintf("it exited with code %d", ended.ExitCode)
	}
}

// size writes bytes as people do, exactly.
func size(bytes int64) string {
	switch {
	case bytes%sandbox.MiB == 0:
		return fmt.Sprintf("%d MiB", bytes/sandbox.MiB)
	case bytes%sandbox.KiB == 0:
		return fmt.Sprintf("%d KiB", bytes/sandbox.KiB)
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}
