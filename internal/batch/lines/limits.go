package lines

import (
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// defaultCPUTime is the CPU time of a test, which decides whether a submission is too slow.
	defaultCPUTime = 10 * time.Second
	// defaultOutput is how much of an output is kept, so that it can be checked whole.
	defaultOutput = 8 * sandbox.MiB
	// compileFactor is how much longer than usual a compiler may take, which the clock alone bounds. On a busy
	// machine it must not make a program one that does not compile.
	compileFactor = 3
)

// limits fills what a line leaves open. CPU time decides whether a program is too slow, and the clock is
// so much later that a busy machine makes no difference.
func (s *Settings) limits(asked sandbox.Overrides) sandbox.Overrides {
	fill(&asked.Memory, s.Limits.Memory)
	fill(&asked.CPUs, s.Limits.CPUs)
	fill(&asked.CPUTime, s.Limits.CPUTime)
	fillMost(&asked.CPUs, 1, s.Maxima.CPUs)
	fillMost(&asked.CPUTime, sandbox.Seconds(defaultCPUTime), sandbox.Seconds(s.Maxima.CPUTime))
	cpu := min(*asked.CPUTime, sandbox.Seconds(s.Maxima.CPUTime)) // what is above is refused later
	fillMost(&asked.WallTime, sandbox.Seconds(grade.WallBackstop(cpu.Duration())), sandbox.Seconds(s.Maxima.WallTime))
	fillMost(&asked.CompileTime, sandbox.Seconds(compileFactor*s.Defaults.CompileTime), sandbox.Seconds(s.Maxima.CompileTime))
	fillMost(&asked.Output, defaultOutput, s.Maxima.Output)
	fillMost(&asked.OutputKill, *asked.Output, s.Maxima.OutputKill)
	return asked
}

func fill[T any](target **T, value *T) {
	if *target == nil {
		*target = value
	}
}

func fillMost[T float64 | int64 | sandbox.Seconds](target **T, value, most T) {
	value = min(value, most)
	fill(target, &value)
}
