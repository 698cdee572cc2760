package docker

import (
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// rejected is the result of a job that asks for what this installation does not do.
func rejected(err error) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: exitKilled, Message: err.Error()}
}

// resultOf makes the result of a job whose report is complete.
func resultOf(r report, limits sandbox.Limits) sandbox.Result {
	result := partialResult(r, limits)
	last := lastStep(r)
	if last == nil {
		result.Outcome, result.ExitCode = sandbox.OutcomeCanceled, exitKilled
		result.Message = "canceled before it ran"
		return result
	}
	v := judge(*last, limits)
	result.Outcome, result.ExitCode, result.Signal = v.outcome, v.exitCode, v.signal
	result.TimedOut, result.Message = v.timedOut, v.message
	switch {
	case last.Name != stepCompile || v.outcome == sandbox.OutcomeCanceled:
	case v.outcome == sandbox.OutcomeOK:
		result.Outcome, result.ExitCode, result.Message = sandbox.OutcomeCanceled, exitKilled, "canceled before it ran"
	default:
		result.Outcome, result.Message = sandbox.OutcomeCompileError, "compile: "+v.message
	}
	result.OK = result.ExitCode == 0 && !result.TimedOut && last.Name == stepRun
	return result
}

// brokenResult makes the result of a job that ended its own sandbox, or made the stream
// from it impossible to believe: all that came before, and what is known of the end.
func brokenResult(r report, limits sandbox.Limits, v verdict) sandbox.Result {
	result := partialResult(r, limits)
	result.Outcome, result.ExitCode, result.Signal = v.outcome, v.exitCode, v.signal
	result.TimedOut, result.Message = v.timedOut, v.message
	if at := len(r.steps) - 1; at >= 0 && r.steps[at].name == stepCompile && v.outcome != sandbox.OutcomeCanceled {
		result.Compile = compileStep(r.steps[at], v)
		result.Outcome, result.Message = sandbox.OutcomeCompileError, "compile: "+v.message
	}
	return result
}

// lastStep returns the report of the last step that ended, or nil.
func lastStep(r report) *wire.StepReport {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].report != nil {
			return r.steps[i].report
		}
	}
	return nil
}

// finished tells whether the report of the step after which no other runs has come.
func (r report) finished() bool {
	last := lastStep(r)
	return last != nil && (last.Name == stepRun || last.Cause != "" || last.StartError != "" || last.ExitCode != 0)
}

// partialResult fills in what each step left behind, and nothing about how the job ended.
// Steps beyond the compile step are the run, ended or not.
func partialResult(r report, limits sandbox.Limits) sandbox.Result {
	result := sandbox.Result{Files: r.files}
	if r.end != nil {
		result.RefusedFiles, result.Collected = r.end.Refused, true
	}
	if r.start != nil {
		result.Enforcement.KernelView = r.start.Kernel
	}
	for _, step := range r.steps {
		if step.report == nil && step.heads[0] == nil && step.heads[1] == nil {
			continue
		}
		ended := step.ended()
		if ended.Name == stepCompile {
			result.Compile = compileStep(step, judge(ended, limits))
			continue
		}
		result.Stdout, result.Stderr = step.streams()
		result.Duration, result.CPUUser, result.CPUSystem = ended.Duration, ended.CPUUser, ended.CPUSystem
		result.PeakMemory, result.OOMKills, result.PIDsDenied = ended.PeakMemory, ended.OOMKills, ended.PIDsDenied
	}
	return result
}

func compileStep(step stepOutput, v verdict) *sandbox.Step {
	ended := step.ended()
	compile := &sandbox.Step{
		Outcome: v.outcome, ExitCode: v.exitCode, Signal: v.signal,
		Duration: ended.Duration, CPUUser: ended.CPUUser, CPUSystem: ended.CPUSystem, PeakMemory: ended.PeakMemory,
	}
	compile.Stdout, compile.Stderr = step.streams()
	return compile
}

// maxClaim is longer than any step takes, and so short that a sum of some does not overflow.
const maxClaim = sandbox.Seconds(365 * 24 * time.Hour)

// ended is the step's report, without numbers that cannot be; a step that never ended has one that only holds its totals as far as they are known.
func (s stepOutput) ended() wire.StepReport {
	report := wire.StepReport{Name: s.name, ExitCode: exitKilled}
	if s.report != nil {
		report = *s.report
	}
	report.StdoutTotal = max(report.StdoutTotal, int64(len(s.heads[0])+len(s.tails[0])))
	report.StderrTotal = max(report.StderrTotal, int64(len(s.heads[1])+len(s.tails[1])))
	for _, took := range []*sandbox.Seconds{&report.Duration, &report.CPUUser, &report.CPUSystem} {
		*took = min(max(*took, 0), maxClaim)
	}
	for _, count := range []*int64{&report.PeakMemory, &report.OOMKills, &report.PIDsDenied} {
		*count = max(*count, 0)
	}
	return report
}

func (s stepOutput) streams() (stdout, stderr sandbox.Stream) {
	ended := s.ended()
	return sandbox.NewStream(s.heads[0], s.tails[0], ended.StdoutTotal), sandbox.NewStream(s.heads[1], s.tails[1], ended.StderrTotal)
}
