package docker

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// BenchmarkStart runs one small program without a pool, until its result is there, in turn with Docker's seccomp profile, with the
// built-in one and, where the daemon has it, on gVisor; and in the same three ways with a warm container. It reports medians and ratios.
func BenchmarkStart(b *testing.B) {
	program := sandbox.Program{Language: "python", Source: []byte(benchCode)}
	ways := []string{"docker", "own"}
	changes := map[string]func(*Options){"docker": dockersProfile, "own": func(*Options) {}, "runsc": func(o *Options) { o.Runtime = "runsc" }}
	if testenv.HasRuntime(b, "runsc") {
		ways = append(ways, "runsc")
	}
	cold, warm := map[string]*bundle{}, map[string]*bundle{}
	for _, way := range ways {
		cold[way], warm[way] = setup(b, changes[way]), setup(b, changes[way], pooled(1))
	}
	times := map[string][]time.Duration{}
	measure := func(name string, of *bundle, open int64) {
		begun := time.Now()
		require.Equal(b, "42\n", string(of.run(b, program).Stdout.Data))
		times[name] = append(times[name], time.Since(begun))
		require.NoError(b, of.Warm(b.Context()))
		settle(b, of, open)
	}
	for _, way := range ways {
		require.NoError(b, warm[way].Warm(b.Context()))
	}
	for b.Loop() {
		ways = append(ways[1:], ways[0]) // so that none is always the one after another
		for _, way := range ways {
			measure("cold-"+way, cold[way], 0)
			measure("warm-"+way, warm[way], 1)
		}
	}
	median := map[string]float64{}
	for name, all := range times {
		slices.Sort(all)
		median[name] = float64(all[len(all)/2].Microseconds()) / 1000
		b.ReportMetric(median[name], name+"-ms")
	}
	b.ReportMetric(0, "ns/op") // the sum of different things says nothing
	for _, kind := range []string{"cold", "warm"} {
		b.ReportMetric(median[kind+"-own"]/median[kind+"-docker"], kind+"-own/docker")
		if len(ways) > 2 {
			b.ReportMetric(median[kind+"-runsc"]/median[kind+"-own"], kind+"-runsc/own")
		}
	}
}
