package live

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// The status of a cell that was done.
const (
	statusOK    = "ok"
	statusError = "error" // an exception was not caught
	statusExit  = "exit"  // the code ended its interpreter in an orderly way, with code
)

// outcome tells what became of a cell that has finished or whose interpreter is gone.
func (i *Interpreter) outcome(c *current, stopped stop, elapsed time.Duration) (Outcome, error) {
	if err := i.failure(c); err != nil {
		return Outcome{}, fmt.Errorf("run cell %s: %w", c.cell.Name, err)
	}
	out := Outcome{Changes: c.changes, Report: workspace.LiveReport{Value: c.value, Displays: c.displays}}
	used := c.end.usage
	if i.ended != nil { // sandbox-init knows what has not been told with a cell
		c.stderr.write(i.ended.Stderr.Data)
		used.OOMKills, used.PIDsDenied = i.untold()
	}
	r := &out.Result
	r.Stdout, r.Stderr = c.stdout.stream(), c.stderr.stream()
	r.Duration = sandbox.Seconds(elapsed)
	if wall := duration(used.Wall); wall > 0 && wall < elapsed {
		r.Duration = sandbox.Seconds(wall)
	}
	r.CPUUser, r.CPUSystem = sandbox.Seconds(duration(used.CPUUser)), sandbox.Seconds(duration(used.CPUSystem))
	r.PeakMemory, r.OOMKills, r.PIDsDenied = used.Peak, used.OOMKills, used.PIDsDenied
	r.Files, r.RefusedFiles, r.Collected = c.figures, c.withheld, c.end.Type != ""
	r.Enforcement = i.enforcement()
	out.Report.Ended = i.ending(c, stopped)
	i.tell(used)
	*r = i.judge(c, stopped, used, *r)
	r.OK = r.ExitCode == 0 && !r.TimedOut
	return out, nil
}

// duration is what a driver says in seconds, if that can be.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Max(0, math.Min(seconds, 1e6)) * float64(time.Second))
}

// failure is the error of a cell that was cut off by no doing of its own, or nil.
func (i *Interpreter) failure(c *current) error {
	i.mu.Lock()
	gone, why := i.gone, i.closed
	i.mu.Unlock()
	switch {
	case c.end.Type != "":
		return nil
	case gone: // it ended when the cell was on its way
		return fmt.Errorf("%w: %s", ErrEnded, i.Reason())
	case i.ended != nil || errors.Is(why, errProtocol) || errors.Is(why, errSilent):
		return nil
	case why != nil:
		return why
	case i.err != nil:
		return i.err
	}
	return fmt.Errorf("the runner ended with %s: %s", i.whole.Outcome, i.whole.Message)
}

// ending is why the interpreter does not live on after a cell, or empty.
func (i *Interpreter) ending(c *current, stopped stop) string {
	switch {
	case c.end.Type == typeDone && c.end.Status == statusExit:
		return fmt.Sprintf("the code exited with code %d", exitCode(c.end.Code))
	case c.end.Type == typeDone:
		return ""
	case stopped != "":
		return fmt.Sprintf("the code did not stop within %g s of being interrupted, so it was ended", InterruptGrace.Seconds())
	}
	return i.Reason()
}

func (i *Interpreter) enforcement() sandbox.Enforcement {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.enforced
}

// tell notes what the kernel did in a cell, so that it is not told again.
func (i *Interpreter) tell(used usage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.oomKills, i.pidsDenied = i.oomKills+used.OOMKills, i.pidsDenied+used.PIDsDenied
}

// untold is what the kernel did in an interpreter that has ended, beside what was told with its cells.
func (i *Interpreter) untold() (oomKills, pidsDenied int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return max(0, i.ended.OOMKills-i.oomKills), max(0, i.ended.PIDsDenied-i.pidsDenied)
}
