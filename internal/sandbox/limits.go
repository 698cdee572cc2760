package sandbox

import (
	"math"
	"time"
)

// The binary multiples of a byte.
const (
	// KiB is 1024 bytes.
	KiB = int64(1) << 10
	// MiB is 1024 KiB.
	MiB = int64(1) << 20
	// GiB is 1024 MiB.
	GiB = int64(1) << 30
)

// Limits bind a job. Every field is positive in limits that may be used, except
// OutputKill, for which 0 means that a program may write without end.
type Limits struct {
	// Memory of all processes and of files in /tmp and /workspace, in bytes. Swap is none.
	Memory int64
	// CPUs is the share of processors, 0.5 being half of one.
	CPUs float64
	// PIDs is the number of processes and threads that the job can have at once.
	PIDs int
	// WallTime bounds the run step by the clock.
	WallTime time.Duration
	// CPUTime bounds the CPU time of the whole process tree of the run step.
	CPUTime time.Duration
	// CompileTime bounds the compile step by the clock, and so its CPU time.
	CompileTime time.Duration
	// Output is how many bytes of each stream are kept.
	Output int64
	// OutputKill is the size of a stream in bytes past which the run is ended; 0 is never.
	OutputKill int64
	// Tmp and Workspace are the sizes of the two writable file systems in bytes.
	Tmp, Workspace int64
	// OpenFiles is the number of descriptors a process can have.
	OpenFiles int64
	// FilesIn bounds the number, and InputBytes the total size with source and stdin, of files sent in.
	FilesIn    int
	InputBytes int64
	// FilesOut bounds the number, and FileBytes the total size, of files sent back.
	FilesOut  int
	FileBytes int64
}

// CPUTimeWithin is a CPU time that a step cannot reach before its wall time is over, so that it is
// always the same of the two that ends it: what the share of processors gives in that time, and a second for the bursts that
// a quota allows.
func (l Limits) CPUTimeWithin(wall time.Duration) time.Duration {
	return time.Duration(float64(wall+time.Second) * math.Max(1, l.CPUs))
}

// DefaultLimits are what a job has when neither it nor the operator says otherwise.
func DefaultLimits() Limits {
	return Limits{
		Memory: 256 * MiB, CPUs: 0.5, PIDs: 64,
		WallTime: 30 * time.Second, CPUTime: 30 * time.Second, CompileTime: 30 * time.Second,
		Output: 64 * KiB, Tmp: 64 * MiB, Workspace: 128 * MiB, OpenFiles: 1024,
		FilesIn: 1000, InputBytes: 32 * MiB, FilesOut: 100, FileBytes: 16 * MiB,
	}
}

// DefaultMaxima are the highest values that a job may ask for unless the operator says otherwise.
func DefaultMaxima() Limits {
	return Limits{
		Memory: 4 * GiB, CPUs: 4, PIDs: 1024,
		WallTime: 15 * time.Minute, CPUTime: time.Hour, CompileTime: 5 * time.Minute,
		Output: 8 * MiB, OutputKill: 1 << 40, Tmp: GiB, Workspace: 2 * GiB, OpenFiles: 65536,
		FilesIn: 10000, InputBytes: 96 * MiB, FilesOut: 2000, FileBytes: 68 * MiB,
	}
}

// Overrides are the limits that one job asks for. A nil field means the default; a
// value that is not positive is refused, so that no number can mean "for ever".
type Overrides struct {
	Memory      *int64   `json:"memory_bytes,omitempty"`
	CPUs        *float64 `json:"cpus,omitempty"`
	PIDs        *int     `json:"pids,omitempty"`
	WallTime    *Seconds `json:"wall_seconds,omitempty"`
	CPUTime     *Seconds `json:"cpu_seconds,omitempty"`
	CompileTime *Seconds `json:"compile_seconds,omitempty"`
	Output      *int64   `json:"output_bytes,omitempty"`
	OutputKill  *int64   `json:"output_kill_bytes,omitempty"`
	Tmp         *int64   `json:"tmp_bytes,omitempty"`
	Workspace   *int64   `json:"workspace_bytes,omitempty"`
	OpenFiles   *int64   `json:"open_files,omitempty"`
	FilesIn     *int     `json:"files_in,omitempty"`
	InputBytes  *int64   `json:"input_bytes,omitempty"`
	FilesOut    *int     `json:"files_out,omitempty"`
	FileBytes   *int64   `json:"file_bytes,omitempty"`
}
