package config

import (
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// LimitSet is sandbox.Limits as it is written in a file.
type LimitSet struct {
	Memory      Size          `mapstructure:"memory"`
	CPUs        float64       `mapstructure:"cpus"`
	PIDs        int           `mapstructure:"pids"`
	WallTime    time.Duration `mapstructure:"wall_time"`
	CPUTime     time.Duration `mapstructure:"cpu_time"`
	CompileTime time.Duration `mapstructure:"compile_time"`
	Output      Size          `mapstructure:"output"`
	// OutputKill is 0 where a program may write without end.
	OutputKill Size  `mapstructure:"output_kill"`
	Tmp        Size  `mapstructure:"tmp"`
	Workspace  Size  `mapstructure:"workspace"`
	OpenFiles  int64 `mapstructure:"open_files"`
	FilesIn    int   `mapstructure:"files_in"`
	InputBytes Size  `mapstructure:"input_bytes"`
	FilesOut   int   `mapstructure:"files_out"`
	FileBytes  Size  `mapstructure:"file_bytes"`
}

func newLimitSet(l sandbox.Limits) LimitSet {
	return LimitSet{
		Memory: Size(l.Memory), CPUs: l.CPUs, PIDs: l.PIDs,
		WallTime: l.WallTime, CPUTime: l.CPUTime, CompileTime: l.CompileTime,
		Output: Size(l.Output), OutputKill: Size(l.OutputKill),
		Tmp: Size(l.Tmp), Workspace: Size(l.Workspace), OpenFiles: l.OpenFiles,
		FilesIn: l.FilesIn, InputBytes: Size(l.InputBytes),
		FilesOut: l.FilesOut, FileBytes: Size(l.FileBytes),
	}
}

// Sandbox returns the limits as the sandbox takes them.
func (l LimitSet) Sandbox() sandbox.Limits {
	return sandbox.Limits{
		Memory: int64(l.Memory), CPUs: l.CPUs, PIDs: l.PIDs,
		WallTime: l.WallTime, CPUTime: l.CPUTime, CompileTime: l.CompileTime,
		Output: int64(l.Output), OutputKill: int64(l.OutputKill),
		Tmp: int64(l.Tmp), Workspace: int64(l.Workspace), OpenFiles: l.OpenFiles,
		FilesIn: l.FilesIn, InputBytes: int64(l.InputBytes),
		FilesOut: l.FilesOut, FileBytes: int64(l.FileBytes),
	}
}
