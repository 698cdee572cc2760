package config

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestConcurrencyFollowsTheScarcerOfProcessorsAndMemory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cpus, perJob float64
		memory       int64
		slots        int
		says         string
	}{
		// 24 GiB * 0.75 / 256 MiB = 72.
		"processors are scarce":  {2, 0.5, 24 * sandbox.GiB, 4, "4 = 2 CPUs / 0.5 CPUs a job; memory would allow 72"},
		"memory is scarce":       {16, 0.5, 2 * sandbox.GiB, 6, "6 = 75 % of memory / 256MiB a job; CPUs would allow 32"},
		"rounding error":         {0.3, 0.1, 24 * sandbox.GiB, 3, "3 = 0.3 CPUs / 0.1 CPUs a job; memory would allow 72"},
		"a small machine":        {1, 2, 256 * sandbox.MiB, 1, "1, the least: CPUs would allow 0, memory 0"},
		"a very large machine":   {256, 0.5, 2048 * sandbox.GiB, 64, "64, the most that is chosen by itself: CPUs would allow 512, memory 6144"},
		"a machine that is mute": {0, 0.5, 0, 1, "1, the least: CPUs would allow 0, memory 0"},
		"not a number":           {math.NaN(), 0.5, sandbox.GiB, 1, "1, the least: CPUs would allow 0, memory 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := AutoConcurrency(test.cpus, test.memory, sandbox.Limits{CPUs: test.perJob, Memory: 256 * sandbox.MiB})
			require.Equal(t, test.slots, got.Slots)
			require.Equal(t, test.says, got.String())
		})
	}
}
