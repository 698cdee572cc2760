package sandbox

// Result is what became of a job. Partial output is kept whatever ended it.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// OK is exit code 0 and not timed out.
	OK bool `json:"ok"`
	// ExitCode is the program's own, 128+N for signal N, and -1 when we ended the run.
	ExitCode int `json:"exit_code"`
	// Signal is the name of the signal that killed the main process, such as SIGSEGV.
	Signal string `json:"signal,omitempty"`
	// TimedOut is set for the wall-clock and the CPU-time limit.
	TimedOut bool `json:"timed_out"`
	// Message is a sentence for people: which limit, what was asked, what was refused.
	Message string `json:"message,omitempty"`

	Stdout Stream `json:"stdout"`
	Stderr Stream `json:"stderr"`

	// Duration is the wall clock of the program itself.
	Duration Seconds `json:"duration_seconds"`
	// QueueTime is from submission to the start of the attempt that gave this result.
	QueueTime Seconds `json:"queue_seconds"`
	// StartupTime is from the start of the attempt to the program's first step.
	StartupTime Seconds `json:"startup_seconds"`
	// CPUUser and CPUSystem are the CPU time of all processes of the run.
	CPUUser   Seconds `json:"cpu_user_seconds"`
	CPUSystem Seconds `json:"cpu_system_seconds"`
	// PeakMemory is the highest memory use of the run in bytes, files in /tmp and /workspace included.
	PeakMemory int64 `json:"peak_memory_bytes"`
	// OOMKills and PIDsDenied count what the kernel did silently during the run.
	OOMKills   int64 `json:"oom_kills,omitempty"`
	PIDsDenied int64 `json:"pids_denied,omitempty"`

	// Compile is the compile step, if the language has one.
	Compile *Step `json:"compile,omitempty"`
	// Files are the files that Program.Outputs asked for.
	Files []File `json:"files,omitempty"`
	// RefusedFiles are matches that did not come back, each with the reason.
	RefusedFiles []RefusedFile `json:"refused_files,omitempty"`
	// Network is what a program that has a network through the proxy did with it.
	Network *NetworkUse `json:"network,omitempty"`
	// Collected tells that the sandbox lived to send Files: what is not among them and was not refused does not exist.
	Collected bool `json:"-"`
	// Enforcement is what the kernel said inside the sandbox.
	Enforcement Enforcement `json:"enforcement"`
}

// Step is the report on the compile step; its fields are those of Result.
type Step struct {
	Outcome    Outcome `json:"outcome"`
	ExitCode   int     `json:"exit_code"`
	Signal     string  `json:"signal,omitempty"`
	Stdout     Stream  `json:"stdout"`
	Stderr     Stream  `json:"stderr"`
	Duration   Seconds `json:"duration_seconds"`
	CPUUser    Seconds `json:"cpu_user_seconds"`
	CPUSystem  Seconds `json:"cpu_system_seconds"`
	PeakMemory int64   `json:"peak_memory_bytes"`
}

// RefusedFile is a file that was asked for and not returned.
type RefusedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Limit tells that it was refused for the number or the size of files, and not for what it is.
	Limit bool `json:"limit,omitempty"`
}

// Enforcement records under which limits a job really ran, as the kernel reported
// them inside the sandbox when the job started.
type Enforcement struct {
	// Image is the name asked for, ImageID the digest of what ran.
	Image   string `json:"image,omitempty"`
	ImageID string `json:"image_id,omitempty"`
	// Runtime is the container runtime, such as runc.
	Runtime string `json:"runtime,omitempty"`
	// Warm tells whether the container was started ahead of need.
	Warm bool `json:"warm"`
	// Reused tells whether other programs of the same batch had run in the container before.
	Reused bool `json:"reused,omitempty"`
	KernelView
}

// KernelView is what sandbox-init reads back before user code starts.
type KernelView struct {
	// GVisor tells that the kernel is gVisor's, which tells less about itself: PIDs is -1, for its limit is one on the whole sandbox from
	// outside, and Seccomp 0, since no call reaches the host's kernel as the program made it.
	GVisor bool `json:"gvisor,omitempty"`
	// CgroupVersion is 1 or 2.
	CgroupVersion int `json:"cgroup_version,omitempty"`
	// MemoryBytes is the memory limit; SwapBytes the swap allowed on top of it.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	SwapBytes   int64 `json:"swap_bytes"`
	// CPUs is quota divided by period.
	CPUs float64 `json:"cpus,omitempty"`
	// PIDs is the limit for the job itself: the cgroup's less what sandbox-init uses.
	PIDs int `json:"pids,omitempty"`
	// TmpBytes and WorkspaceBytes are the sizes of the two writable file systems.
	TmpBytes       int64 `json:"tmp_bytes,omitempty"`
	WorkspaceBytes int64 `json:"workspace_bytes,omitempty"`
	// RootReadOnly tells whether the root file system refuses writes.
	RootReadOnly bool `json:"root_read_only"`
	UID          int  `json:"uid"`
	GID          int  `json:"gid"`
	// Capabilities is the effective, permitted, inheritable, bounding and ambient sets or-ed, in hex.
	Capabilities string `json:"capabilities,omitempty"`
	NoNewPrivs   bool   `json:"no_new_privs"`
	// Seccomp is the mode: 0 off, 2 filter.
	Seccomp int `json:"seccomp"`
	// Interfaces are the network interfaces other than loopback; none is right.
	Interfaces []string `json:"interfaces,omitempty"`
	// CoreBytes is the limit on core dumps, OpenFiles that on descriptors.
	CoreBytes int64 `json:"core_bytes"`
	OpenFiles int64 `json:"open_files,omitempty"`
}
