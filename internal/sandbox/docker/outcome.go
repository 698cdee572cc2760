package docker

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// The names of steps.
const (
	stepCompile = "compile"
	stepRun     = "run"
)

const (
	exitKilled     = -1  // we ended the step
	exitNotFound   = 127 // as a shell says it
	exitSignalBase = 128
)

// verdict is what a step's end means.
type verdict struct {
	outcome  sandbox.Outcome
	exitCode int
	signal   string
	timedOut bool
	message  string
}

// judge turns the report of a step under limits into a verdict. What ended the step goes
// first, then what the kernel did on the way, then how the main process ended.
func judge(step wire.StepReport, limits sandbox.Limits) verdict {
	v := ending(step, limits)
	if step.Cause != "" {
		return v
	}
	switch {
	case step.OOMKills > 0:
		v.outcome = sandbox.OutcomeOutOfMemory
		v.message = fmt.Sprintf("the kernel killed %s for the memory limit of %s", processes(step.OOMKills), size(limits.Memory))
	case step.PIDsDenied > 0:
		v.outcome = sandbox.OutcomePIDsLimit
		v.message = fmt.Sprintf("a process or thread was refused: the limit is %d at once", limits.PIDs)
	case step.DiskFull != "" && v.exitCode != 0:
		v.outcome = sandbox.OutcomeDiskFull
		v.message = fmt.Sprintf("%s was full: the limit is %s", step.DiskFull, size(diskLimit(step.DiskFull, limits)))
	}
	return v
}

// ending tells how the step ended, leaving aside what the kernel did on the way.
func ending(step wire.StepReport, limits sandbox.Limits) verdict {
	wall, cpu := limits.WallTime, limits.CPUTime
	if step.Name == stepCompile {
		wall, cpu = limits.CompileTime, limits.CPUTimeWithin(limits.CompileTime)
	}
	switch {
	case step.Cause == wire.CauseWall:
		return verdict{sandbox.OutcomeWallTimeout, exitKilled, "", true, fmt.Sprintf("stopped at the wall-clock limit of %s", seconds(wall))}
	case step.Cause == wire.CauseCPU:
		return verdict{sandbox.OutcomeCPUTimeout, exitKilled, "", true, fmt.Sprintf("stopped at the CPU-time limit of %s", seconds(cpu))}
	case step.Cause == wire.CauseOutput:
		return verdict{sandbox.OutcomeOutputLimit, exitKilled, "", false, fmt.Sprintf("stopped when a stream passed the limit of %s", size(limits.OutputKill))}
	case step.Cause == wire.CauseCanceled:
		return verdict{sandbox.OutcomeCanceled, exitKilled, "", false, "canceled while it ran"}
	case step.Cause != "":
		return verdict{sandbox.OutcomeSignaled, exitKilled, "", false, fmt.Sprintf("stopped: %s", step.Cause)}
	case step.StartError != "":
		code := step.ExitCode
		if code <= 0 {
			code = exitNotFound
		}
		return verdict{sandbox.OutcomeNonzeroExit, code, "", false, fmt.Sprintf("the program cannot be started: %s", step.StartError)}
	case step.Signal > 0:
		name := signalName(step.Signal)
		return verdict{sandbox.OutcomeSignaled, exitSignalBase + step.Signal, name, false, "killed by " + name}
	case step.ExitCode != 0:
		return verdict{sandbox.OutcomeNonzeroExit, step.ExitCode, "", false, fmt.Sprintf("exited with code %d", step.ExitCode)}
	default:
		return verdict{outcome: sandbox.OutcomeOK}
	}
}

func diskLimit(path string, limits sandbox.Limits) int64 {
	if path == "/tmp" {
		return limits.Tmp
	}
	return limits.Workspace
}

func processes(n int64) string {
	if n == 1 {
		return "a process"
	}
	return strconv.FormatInt(n, 10) + " processes"
}

// size writes bytes as people do, exactly: 256 MiB, 1000 bytes.
func size(bytes int64) string {
	switch {
	case bytes%sandbox.GiB == 0:
		return fmt.Sprintf("%d GiB", bytes/sandbox.GiB)
	case bytes%sandbox.MiB == 0:
		return fmt.Sprintf("%d MiB", bytes/sandbox.MiB)
	case bytes%sandbox.KiB == 0:
		return fmt.Sprintf("%d KiB", bytes/sandbox.KiB)
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}

// seconds writes a duration as the number of seconds that was asked for: "2.5 s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}
