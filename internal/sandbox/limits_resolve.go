package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// The lowest values with which a container starts at all and a measurement means something.
const (
	minMemory   = 32 * MiB // runc copies itself into the memory of what it starts
	minCPUs     = 0.01
	minTime     = Seconds(10 * time.Millisecond)
	minFileSize = 4 * KiB
)

// Resolve fills what o leaves open from defaults and checks the rest against maxima.
// A job that sets a wall time or processors and no CPU time gets as much CPU time as it can use
// within that. The error joins one *LimitError for each value that is refused.
func (o Overrides) Resolve(defaults, maxima Limits) (Limits, error) {
	r := resolver{}
	limits := defaults
	resolve(&r, "memory_bytes", o.Memory, &limits.Memory, minMemory, maxima.Memory)
	r.cpus(o.CPUs, &limits.CPUs, maxima.CPUs)
	resolve(&r, "pids", o.PIDs, &limits.PIDs, 1, maxima.PIDs)
	r.seconds("wall_seconds", o.WallTime, &limits.WallTime, maxima.WallTime)
	if o.CPUTime == nil && (o.WallTime != nil || o.CPUs != nil) {
		limits.CPUTime = min(limits.CPUTimeWithin(limits.WallTime), maxima.CPUTime)
	}
	r.seconds("cpu_seconds", o.CPUTime, &limits.CPUTime, maxima.CPUTime)
	r.seconds("compile_seconds", o.CompileTime, &limits.CompileTime, maxima.CompileTime)
	resolve(&r, "output_bytes", o.Output, &limits.Output, 1, maxima.Output)
	resolve(&r, "output_kill_bytes", o.OutputKill, &limits.OutputKill, 1, maxima.OutputKill)
	resolve(&r, "tmp_bytes", o.Tmp, &limits.Tmp, minFileSize, maxima.Tmp)
	resolve(&r, "workspace_bytes", o.Workspace, &limits.Workspace, minFileSize, maxima.Workspace)
	resolve(&r, "open_files", o.OpenFiles, &limits.OpenFiles, 16, maxima.OpenFiles)
	resolve(&r, "files_in", o.FilesIn, &limits.FilesIn, 1, maxima.FilesIn)
	resolve(&r, "input_bytes", o.InputBytes, &limits.InputBytes, 1, maxima.InputBytes)
	resolve(&r, "files_out", o.FilesOut, &limits.FilesOut, 1, maxima.FilesOut)
	resolve(&r, "file_bytes", o.FileBytes, &limits.FileBytes, 1, maxima.FileBytes)
	return limits, errors.Join(r.errs...)
}

// LimitError names a limit that was refused.
type LimitError struct {
	// Field is the name that JSON uses; Value, Min and Max are in its unit.
	Field, Value, Min, Max string
}

// Error says what was asked and what is allowed.
func (e *LimitError) Error() string {
	return fmt.Sprintf("limits.%s: %s is not allowed: want %s to %s", e.Field, e.Value, e.Min, e.Max)
}

type resolver struct{ errs []error }

func resolve[T cmp.Ordered](r *resolver, field string, asked, target *T, lowest, highest T) {
	if asked == nil {
		return
	}
	// NaN, for which every comparison is false, is not allowed either.
	if allowed := *asked >= lowest && *asked <= highest; !allowed {
		r.errs = append(r.errs, &LimitError{field, fmt.Sprint(*asked), fmt.Sprint(lowest), fmt.Sprint(highest)})
		return
	}
	*target = *asked
}

func (r *resolver) cpus(asked, target *float64, highest float64) {
	resolve(r, "cpus", asked, target, minCPUs, highest)
}

func (r *resolver) seconds(field string, asked *Seconds, target *time.Duration, highest time.Duration) {
	value := Seconds(*target)
	resolve(r, field, asked, &value, minTime, Seconds(highest))
	*target = value.Duration()
}
