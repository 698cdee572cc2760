package wire

import "github.com/sandloop/sandloop/internal/sandbox"

// Type tells what a frame carries.
type Type byte

// The frame types. Payloads are JSON unless the comment says bytes.
const (
	TypeSpec      Type = 'S' // worker: Spec
	TypeData      Type = 'D' // both: bytes of a file or of stdin
	TypeCancel    Type = 'C' // worker: empty
	TypeTest      Type = 'N' // worker: Test, followed by TypeData frames of its files and its stdin
	TypeFinish    Type = 'Z' // worker: empty; no test follows
	TypeInput     Type = 'I' // worker: bytes for the stdin of the test that talks, as far as it has credit
	TypeInputEnd  Type = 'J' // worker: empty; the stdin of the test that talks has ended
	TypeReady     Type = 'R' // init: Ready, authenticated by the empty key
	TypeStart     Type = 'B' // init: Start
	TypeOutput    Type = 'O' // init: one byte stream (1 stdout, 2 stderr), then bytes of the kept head
	TypeCredit    Type = 'G' // init: four bytes, big-endian: how many more bytes of TypeInput may come
	TypeMore      Type = 'M' // init: one byte stream, then bytes that are not kept, of a test that talks
	TypeOutputEnd Type = 'L' // init: one byte stream, of a test that talks, that nobody can write to any more
	TypeStep      Type = 'P' // init: StepReport
	TypeTail      Type = 'T' // init: one byte stream, then bytes of the kept tail; before its StepReport
	TypeFile      Type = 'F' // init: FileHeader, followed by TypeData frames of its size
	TypeEnd       Type = 'E' // init: End
	TypeFault     Type = 'X' // init: Fault
	TypeClean     Type = 'K' // init: empty; after End, the sandbox holds nothing of the job any more
)

// The stream byte of TypeOutput and TypeTail.
const (
	StreamStdout byte = 1
	StreamStderr byte = 2
)

// Spec is one job.
type Spec struct {
	// Key authenticates every later frame from sandbox-init; 32 random bytes.
	Key []byte `json:"key"`
	// Steps run in order until one fails. All but the last are compile steps; all are if Tests is set.
	Steps []Step `json:"steps"`
	// Tests tells that after the steps, of which there may be none, tests come one by one.
	Tests bool `json:"tests,omitempty"`
	// Reuse tells that the sandbox is cleaned after End and may then be given another Spec.
	Reuse bool `json:"reuse,omitempty"`
	// Files are written below /workspace; their bytes follow in order, then those of stdin.
	Files     []FileHeader `json:"files"`
	StdinSize int64        `json:"stdin_size"`
	// Outputs are patterns of files to send back after the last step that ran.
	Outputs   []string `json:"outputs"`
	FilesOut  int      `json:"files_out"`
	FileBytes int64    `json:"file_bytes"`
	// Expect is compared with what the kernel says; a difference is a Fault.
	Expect Expect `json:"expect"`
}

// Expect are the limits that must be in force before user code starts.
type Expect struct {
	MemoryBytes    int64   `json:"memory_bytes"`
	CPUs           float64 `json:"cpus"`
	PIDs           int     `json:"pids"`
	TmpBytes       int64   `json:"tmp_bytes"`
	WorkspaceBytes int64   `json:"workspace_bytes"`
	OpenFiles      int64   `json:"open_files"`
	// Network tells that interfaces beside loopback are allowed.
	Network bool `json:"network"`
}

// Step is one command.
type Step struct {
	// Name is "compile" or "run".
	Name string   `json:"name"`
	Argv []string `json:"argv"`
	// Env is added to the image's own environment.
	Env []string `json:"env"`
	// Stdin tells that the step reads the job's stdin; otherwise it reads end of file.
	Stdin      bool            `json:"stdin"`
	WallTime   sandbox.Seconds `json:"wall_seconds"`
	CPUTime    sandbox.Seconds `json:"cpu_seconds"`
	Output     int64           `json:"output_bytes"`
	OutputKill int64           `json:"output_kill_bytes"`
}

// Test is one run of what the steps of a Spec with Tests have made. It finds only what those have left,
// and its own files over that.
type Test struct {
	Step Step `json:"step"`
	// Files are written below /workspace; their bytes follow in order, then those of stdin. A Path
	// that ends in a slash is a folder.
	Files     []FileHeader `json:"files,omitempty"`
	StdinSize int64        `json:"stdin_size"`
	// Outputs are patterns of files to send back before the StepReport, within the bounds of the Spec.
	Outputs []string `json:"outputs,omitempty"`
	// Talk connects stdin and stdout with the worker while the test runs; StdinSize is then 0.
	Talk bool `json:"talk,omitempty"`
}

// InputWindow is the credit for TypeInput that a test that talks starts with, and the most that
// sandbox-init holds of what its program does not read.
const InputWindow = 256 << 10

// FileHeader announces a file; Path is relative to /workspace.
type FileHeader struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Executable bool   `json:"executable,omitempty"`
}

// Ready tells that sandbox-init waits for a job.
type Ready struct {
	// Version is the protocol's, see Version.
	Version int `json:"version"`
	// Threads is the number of threads of sandbox-init, which count against the limit of processes.
	Threads int `json:"threads"`
}

// Version of the protocol; worker and sandbox-init must agree.
const Version = 4

// HeadroomPIDs is what the container's limit of processes exceeds the job's by: sandbox-init
// starts exactly so many threads before it is ready and never more.
const HeadroomPIDs = 16

// Start tells that input is in place and limits are verified.
type Start struct {
	Kernel sandbox.KernelView `json:"kernel"`
}

// Cause tells why sandbox-init ended a step.
type Cause string

// The causes; empty means that the program ended by itself.
const (
	CauseWall     Cause = "wall"
	CauseCPU      Cause = "cpu"
	CauseOutput   Cause = "output"
	CauseCanceled Cause = "canceled"
)

// StepReport is what became of a step.
type StepReport struct {
	Name string `json:"name"`
	// Cause is why we ended it.
	Cause Cause `json:"cause,omitempty"`
	// StartError is set when the command could not be executed at all, such as a missing program.
	StartError string `json:"start_error,omitempty"`
	// ExitCode is the main process's, or -1 when a signal killed it.
	ExitCode int `json:"exit_code"`
	// Signal is the number of the signal that killed the main process.
	Signal     int             `json:"signal,omitempty"`
	Duration   sandbox.Seconds `json:"duration_seconds"`
	CPUUser    sandbox.Seconds `json:"cpu_user_seconds"`
	CPUSystem  sandbox.Seconds `json:"cpu_system_seconds"`
	PeakMemory int64           `json:"peak_memory_bytes"`
	OOMKills   int64           `json:"oom_kills,omitempty"`
	PIDsDenied int64           `json:"pids_denied,omitempty"`
	// DiskFull names the file system that was seen full, "/tmp" or "/workspace".
	DiskFull string `json:"disk_full,omitempty"`
	// StdoutTotal and StderrTotal count what the step wrote.
	StdoutTotal int64 `json:"stdout_total"`
	StderrTotal int64 `json:"stderr_total"`
	// Refused are files that a test asked for and that did not come.
	Refused []sandbox.RefusedFile `json:"refused,omitempty"`
}

// Failed tells whether no further step of a spec runs after this one.
func (r StepReport) Failed() bool { return r.Cause != "" || r.StartError != "" || r.ExitCode != 0 }

// End tells that all has been sent.
type End struct {
	Refused []sandbox.RefusedFile `json:"refused,omitempty"`
}

// Fault is sandbox-init's own failure.
type Fault struct {
	Message string `json:"message"`
	// Unclean tells that the sandbox could not be made ready for the test that was asked for last, which
	// has therefore not begun, or after End for another Spec.
	Unclean bool `json:"unclean,omitempty"`
}
