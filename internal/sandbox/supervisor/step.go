package supervisor

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// runner runs the steps of one job one after the other.
type runner struct {
	launch   launcher
	group    *cgroup
	oom      *oomFile
	out      *wire.Writer
	imageEnv []string
	canceled chan struct{} // closed by the session
	held     *reserve
	// buffers are what outputs are drained through, kept for the next step.
	buffers [2][drainSize]byte
}

const drainSize = 64 << 10

// run runs one step to its end and sends its output. Its error means that this process could not do
// its part; what the program does is in the report. From the end of the program on frames are held back, since
// the report comes soon.
func (r *runner) run(step wire.Step, in *input) (wire.StepReport, error) {
	report := wire.StepReport{Name: step.Name, ExitCode: -1}
	if err := r.out.Release(); err != nil {
		return report, err
	}
	before, err := r.group.counters()
	if err != nil {
		return report, fmt.Errorf("read counters before step %s: %w", step.Name, err)
	}
	if err := r.held.take(); err != nil {
		return report, err
	}
	started := time.Now()
	main, err := r.launch.start(step, r.imageEnv, in, r.oom)
	var notStarted *startError
	if errors.As(err, &notStarted) {
		report.StartError = notStarted.Error()
		return report, nil
	}
	if err != nil {
		return report, fmt.Errorf("start step %s: %w", step.Name, err)
	}
	reaper := startReaper(main.pid, r.held)
	outputs := newStreams(r.out, step.Output, step.OutputKill)
	if in.feed != nil {
		outputs.stdout.live = &liveOutput{out: r.out, id: wire.StreamStdout}
	}
	drained := r.drain(main, outputs)
	go outputs.sendLive()

	sampler := &sampler{group: r.group, limit: before.cpu + step.CPUTime.Duration()}
	report.Cause, err = r.watch(step, reaper, outputs, sampler)
	if err := errors.Join(err, reaper.killAll(), <-drained, <-drained); err != nil {
		return report, fmt.Errorf("end step %s: %w", step.Name, err)
	}
	r.held.release() // what ended after the main process may have filled the memory meanwhile
	r.out.Hold()
	ended := <-reaper.main
	after, err := r.group.counters()
	if err != nil {
		return report, fmt.Errorf("read counters after step %s: %w", step.Name, err)
	}
	r.fill(&report, ended, ended.at.Sub(started), after.since(before))
	if report.PeakMemory == 0 {
		report.PeakMemory = max(sampler.memory, reaper.maxRSS)
	}
	if report.DiskFull = fullFilesystem(); report.DiskFull == "" {
		report.DiskFull = sampler.full
	}
	report.StdoutTotal, report.StderrTotal = outputs.stdout.count(), outputs.stderr.count()
	if report.Cause == "" {
		report.Cause = passed(step, report)
	}
	return report, outputs.finish()
}

// drain starts to read both outputs; it sends one result for each when no process holds it open.
func (r *runner) drain(main *process, outputs *streams) <-chan error {
	drained := make(chan error, 2)
	go func() {
		drained <- errors.Join(outputs.stdout.drain(main.stdout, r.buffers[0][:]), main.stdout.Close())
	}()
	go func() {
		drained <- errors.Join(outputs.stderr.drain(main.stderr, r.buffers[1][:]), main.stderr.Close())
	}()
	return drained
}

// watch returns when the main process has ended or has to be ended, with the cause.
func (r *runner) watch(step wire.Step, reaper *reaper, outputs *streams, sampler *sampler) (wire.Cause, error) {
	wall := time.NewTimer(step.WallTime.Duration())
	defer wall.Stop()
	poll := time.NewTimer(sampler.pause(step.CPUTime.Duration()))
	defer poll.Stop()
	for {
		select {
		case <-reaper.ended:
			return "", nil
		case <-wall.C:
			return wire.CauseWall, nil
		case <-outputs.stdout.over:
			return wire.CauseOutput, nil
		case <-outputs.stderr.over:
			return wire.CauseOutput, nil
		case <-r.canceled:
			return wire.CauseCanceled, nil
		case <-poll.C:
			left, err := sampler.sample()
			if err != nil {
				return "", err // a limit that cannot be enforced ends the run
			}
			if left <= 0 {
				return wire.CauseCPU, nil
			}
			poll.Reset(sampler.pause(left))
		}
	}
}

// fill reports how the main process ended and what the step used.
func (r *runner) fill(report *wire.StepReport, ended exit, duration time.Duration, used counters) {
	if ended.status.Signaled() {
		report.Signal = int(ended.status.Signal())
	} else {
		report.ExitCode = ended.status.ExitStatus()
	}
	report.Duration = sandbox.Seconds(duration)
	report.CPUUser, report.CPUSystem = sandbox.Seconds(used.user), sandbox.Seconds(used.system)
	report.PeakMemory = used.peak
	report.OOMKills, report.PIDsDenied = used.oomKills, used.pidsDenied
}

// passed tells which limit a program had passed that ended by itself before it was
// seen, so that the answer does not depend on who was faster.
func passed(step wire.Step, report wire.StepReport) wire.Cause {
	switch {
	case report.Duration >= step.WallTime:
		return wire.CauseWall
	case report.CPUUser+report.CPUSystem >= step.CPUTime:
		return wire.CauseCPU
	case step.OutputKill > 0 && max(report.StdoutTotal, report.StderrTotal) > step.OutputKill:
		return wire.CauseOutput
	}
	return ""
}

// sampler looks at what the kernel only tells when asked.
type sampler struct {
	group  *cgroup
	limit  time.Duration // value of the CPU counter at which the step has used its time
	memory int64         // highest use seen
	full   string        // file system that was seen full
}

// sample returns how much CPU time is left.
func (s *sampler) sample() (time.Duration, error) {
	used, err := s.group.jobCPU()
	if err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	if memory, err := s.group.memoryUsage(); err == nil {
		s.memory = max(s.memory, memory)
	}
	if s.full == "" {
		s.full = fullFilesystem()
	}
	return s.limit - used, nil
}

// pause is how long the step needs at least to use what is left of its CPU time on
// all processors, within bounds that keep both lateness and wake-ups low.
func (s *sampler) pause(left time.Duration) time.Duration {
	const shortest, longest = 5 * time.Millisecond, 100 * time.Millisecond
	return min(longest, max(shortest, left/time.Duration(runtime.NumCPU())))
}

// validate refuses a step that would run without one of its limits.
func validate(step wire.Step) error {
	if len(step.Argv) == 0 || step.WallTime <= 0 || step.CPUTime <= 0 || step.Output <= 0 || step.OutputKill < 0 {
		return fmt.Errorf("step %q: argv, wall time, CPU time and output must be set: %w", step.Name, syscall.EINVAL)
	}
	return nil
}
