package sandbox

// Outcome says in one word how a job ended.
type Outcome string

// The outcomes. When several things happened, the one that ended the run counts;
// of limits that the kernel enforced on the way, memory goes before processes.
const (
	// OutcomeOK means that the program exited with 0 and hit no limit.
	OutcomeOK Outcome = "ok"
	// OutcomeNonzeroExit means that the program exited with another code, 137 included.
	OutcomeNonzeroExit Outcome = "nonzero_exit"
	// OutcomeSignaled means that a signal that was not ours killed the program.
	OutcomeSignaled Outcome = "signaled"
	// OutcomeWallTimeout means that the wall-clock limit ended the run.
	OutcomeWallTimeout Outcome = "wall_timeout"
	// OutcomeCPUTimeout means that the CPU time of all its processes reached the limit.
	OutcomeCPUTimeout Outcome = "cpu_timeout"
	// OutcomeOutOfMemory means that the kernel killed a process of the job for its
	// memory limit, whatever exit code the main process made of that.
	OutcomeOutOfMemory Outcome = "out_of_memory"
	// OutcomePIDsLimit means that the kernel refused a process or thread for the limit.
	OutcomePIDsLimit Outcome = "pids_limit"
	// OutcomeOutputLimit means that the run was ended because a stream passed Limits.OutputKill.
	OutcomeOutputLimit Outcome = "output_limit"
	// OutcomeDiskFull means that the program failed and /tmp or /workspace was full.
	OutcomeDiskFull Outcome = "disk_full"
	// OutcomeCompileError means that the compile step failed or hit a limit; Result.Compile says which.
	OutcomeCompileError Outcome = "compile_error"
	// OutcomeCanceled means that someone canceled the job.
	OutcomeCanceled Outcome = "canceled"
	// OutcomeRejected means that this installation does not run such a job: an
	// unknown language, a limit above the operator's maximum, a bad file path.
	OutcomeRejected Outcome = "rejected"
	// OutcomeInfraError means that our machinery failed, after all its retries.
	OutcomeInfraError Outcome = "infra_error"
)

// Outcomes lists every outcome, in the order in which people are told of them.
func Outcomes() []Outcome {
	return []Outcome{
		OutcomeOK, OutcomeNonzeroExit, OutcomeSignaled, OutcomeWallTimeout, OutcomeCPUTimeout,
		OutcomeOutOfMemory, OutcomePIDsLimit, OutcomeOutputLimit, OutcomeDiskFull,
		OutcomeCompileError, OutcomeCanceled, OutcomeRejected, OutcomeInfraError,
	}
}
