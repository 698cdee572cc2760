package config

import (
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// lowest and highest bound what an operator may configure: below, nothing starts; above,
// a slip of the keyboard is likelier than a wish.
var (
	lowest = LimitSet{
		Memory: Size(32 * sandbox.MiB), CPUs: 0.01, PIDs: 1,
		WallTime: 10 * time.Millisecond, CPUTime: 10 * time.Millisecond, CompileTime: 10 * time.Millisecond,
		Output: 1, OutputKill: 0, Tmp: Size(4 * sandbox.KiB), Workspace: Size(4 * sandbox.KiB), OpenFiles: 16,
		FilesIn: 1, InputBytes: 1, FilesOut: 1, FileBytes: 1,
	}
	highest = LimitSet{
		Memory: Size(1024 * sandbox.GiB), CPUs: 1024, PIDs: 100_000,
		WallTime: 24 * time.Hour, CPUTime: 240 * time.Hour, CompileTime: 24 * time.Hour,
		Output: Size(256 * sandbox.MiB), OutputKill: Size(1 << 50), Tmp: Size(64 * sandbox.GiB), Workspace: Size(64 * sandbox.GiB), OpenFiles: 1 << 20,
		FilesIn: 100_000, InputBytes: Size(256 * sandbox.MiB), FilesOut: 100_000, FileBytes: Size(256 * sandbox.MiB),
	}
)

// validate bounds the maxima, and the defaults by the maxima as well.
func (l Limits) validate(p *problems) {
	before := len(p.errs)
	l.Maxima.validate(p, "limits.maxima.", highest)
	upTo, what := l.Maxima, " (limits.maxima)"
	if len(p.errs) > before {
		upTo, what = highest, "" // bad maxima say nothing about the defaults
	}
	own := &problems{}
	l.Defaults.validate(own, "limits.defaults.", upTo)
	for _, err := range own.errs {
		p.errs = append(p.errs, fmt.Errorf("%w%s", err, what))
	}
}

func (s LimitSet) validate(p *problems, section string, most LimitSet) {
	within(p, section+"memory", s.Memory, lowest.Memory, most.Memory)
	within(p, section+"cpus", s.CPUs, lowest.CPUs, most.CPUs)
	within(p, section+"pids", s.PIDs, lowest.PIDs, most.PIDs)
	within(p, section+"wall_time", s.WallTime, lowest.WallTime, most.WallTime)
	within(p, section+"cpu_time", s.CPUTime, lowest.CPUTime, most.CPUTime)
	within(p, section+"compile_time", s.CompileTime, lowest.CompileTime, most.CompileTime)
	within(p, section+"output", s.Output, lowest.Output, most.Output)
	within(p, section+"output_kill", s.OutputKill, lowest.OutputKill, most.OutputKill)
	within(p, section+"tmp", s.Tmp, lowest.Tmp, most.Tmp)
	within(p, section+"workspace", s.Workspace, lowest.Workspace, most.Workspace)
	within(p, section+"open_files", s.OpenFiles, lowest.OpenFiles, most.OpenFiles)
	within(p, section+"files_in", s.FilesIn, lowest.FilesIn, most.FilesIn)
	within(p, section+"input_bytes", s.InputBytes, lowest.InputBytes, most.InputBytes)
	within(p, section+"files_out", s.FilesOut, lowest.FilesOut, most.FilesOut)
	within(p, section+"file_bytes", s.FileBytes, lowest.FileBytes, most.FileBytes)
}
