package explain

import "github.com/sandloop/sandloop/internal/sandbox"

// row is one note: when a call has it, and what it says then.
type row struct {
	kind Kind
	when func(*facts) bool
	text func(*facts) string
}

// table holds every note. Several can hold for one call: what the kernel did on the way counts, too.
var table = []row{
	{OurFailure, ended(sandbox.OutcomeInfraError), ourFailure},
	{Canceled, ended(sandbox.OutcomeCanceled), canceled},
	{UnknownLanguage, (*facts).languageUnknown, unknownLanguage},
	{Rejected, rejectedForAnother, rejected},
	{StartedAnew, (*facts).startedAnew, startedAnew},
	{NotLive, (*facts).ranBesideTheInterpreter, notLive},
	{CompileError, ended(sandbox.OutcomeCompileError), compileError},
	{OutOfMemory, (*facts).killedForMemory, outOfMemory},
	{HeapFull, (*facts).heapFull, heapFull},
	{WallTimeout, ended(sandbox.OutcomeWallTimeout), wallTimeout},
	{CPUTimeout, ended(sandbox.OutcomeCPUTimeout), cpuTimeout},
	{OutputLimit, ended(sandbox.OutcomeOutputLimit), outputLimit},
	{PIDsLimit, (*facts).processRefused, pidsLimit},
	{DiskFull, (*facts).diskFull, diskFull},
	{Signaled, (*facts).killedBySignal, signaled},
	{ReadOnly, says(readOnlyTexts), readOnly},
	{NoNetwork, (*facts).networkMissing, noNetwork},
	{NetworkRefused, (*facts).networkRefused, networkRefused},
	{ModuleMissing, (*facts).hasMissingModule, moduleMissing},
	{CommandMissing, (*facts).hasMissingCommand, commandMissing},
	{NoStdin, says(stdinTexts), noStdin},
	{OutputCut, (*facts).wasCut, outputCut},
	{NotText, (*facts).hasNonText, notText},
	{PrintedNothing, (*facts).printedNothing, printedNothing},
	{NotKept, (*facts).hasRefused, notKept},
	{Ended, (*facts).interpreterEnded, interpreterEnded},
}

// ended is the condition that a job had an outcome.
func ended(outcome sandbox.Outcome) func(*facts) bool {
	return func(f *facts) bool { return f.Result.Outcome == outcome }
}
