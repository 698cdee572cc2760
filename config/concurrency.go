package config

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// MaxAutoConcurrency bounds what AutoConcurrency gives. More must be asked for.
const MaxAutoConcurrency = 64

// memoryShare is the part of the memory that jobs may fill; the rest is the system's.
const memoryShare = 0.75

// Concurrency tells how many jobs run at once, and why.
type Concurrency struct {
	// Slots is the outcome: at least 1 and at most MaxAutoConcurrency.
	Slots int
	// ByCPU and ByMemory are what each alone would allow.
	ByCPU, ByMemory int

	cpus float64
	job  sandbox.Limits
}

// AutoConcurrency is as many jobs with the default limits as fit into cpus processors and
// three quarters of memory bytes, those of the machine that runs the containers.
func AutoConcurrency(cpus float64, memory int64, job sandbox.Limits) Concurrency {
	c := Concurrency{
		ByCPU:    whole(cpus / job.CPUs),
		ByMemory: whole(float64(memory) * memoryShare / float64(job.Memory)),
		cpus:     cpus, job: job,
	}
	c.Slots = max(1, min(c.ByCPU, c.ByMemory, MaxAutoConcurrency))
	return c
}

func whole(ratio float64) int {
	if !(ratio > 0) { // NaN is not
		return 0
	}
	// The little on top keeps 0.3/0.1 from being 2.
	return int(math.Min(ratio+1e-9, math.MaxInt32))
}

// String says how the number came out: "4 = 2 CPUs / 0.5 CPUs a job; memory would allow 68".
func (c Concurrency) String() string {
	perJob := strconv.FormatFloat(c.job.CPUs, 'g', -1, 64)
	cpus := strconv.FormatFloat(c.cpus, 'g', -1, 64)
	switch {
	case c.ByCPU < 1 || c.ByMemory < 1:
		return fmt.Sprintf("1, the least: CPUs would allow %d, memory %d", c.ByCPU, c.ByMemory)
	case c.Slots < c.ByCPU && c.Slots < c.ByMemory:
		return fmt.Sprintf("%d, the most that is chosen by itself: CPUs would allow %d, memory %d", c.Slots, c.ByCPU, c.ByMemory)
	case c.ByCPU <= c.ByMemory:
		return fmt.Sprintf("%d = %s CPUs / %s CPUs a job; memory would allow %d", c.Slots, cpus, perJob, c.ByMemory)
	default:
		return fmt.Sprintf("%d = 75 %% of memory / %s a job; CPUs would allow %d", c.Slots, Size(c.job.Memory), c.ByCPU)
	}
}
