package docker

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// BenchmarkReuse runs one small program in four ways in turn, so that whatever else the machine does meets all
// alike, and reports medians and their differences:
//
//	bare   python3 -S as a plain process in the unpacked image, without any sandbox
//	warm   Run with a container from the pool, which is thrown away after
//	reuse  Run in the container of the batch, which is clean
//	next   the same at once after it, so that it has to wait for the cleaning
func BenchmarkReuse(b *testing.B) {
	warm, reuse := setup(b, pooled(1), shortPython(b)), setup(b, reusing, shortPython(b))
	root := unpackWith(b, benchCode)
	program := sandbox.Program{Language: "python", Source: []byte(benchCode), Limits: sandbox.Overrides{CPUs: ptr(1.0)}}
	batch := of("bench", program)
	times := map[string][]time.Duration{}
	measure := func(name string, run func() string) {
		begun := time.Now()
		got := run()
		times[name] = append(times[name], time.Since(begun))
		require.Equal(b, "42\n", got, name)
	}
	reuse.run(b, batch)
	for b.Loop() {
		require.NoError(b, warm.Warm(b.Context()))
		settle(b, warm, 1)
		measure("warm", func() string { return string(warm.run(b, program).Stdout.Data) })
		settle(b, warm, 1)
		for range 10 {
			measure("bare", func() string { return bareArgv(b, root, "/usr/bin/python3", "-S", "/main.py") })
			reuse.awaitKept(b)
			measure("reuse", func() string { return string(reuse.run(b, batch).Stdout.Data) })
			measure("next", func() string { return string(reuse.run(b, batch).Stdout.Data) })
		}
	}
	require.EqualValues(b, 1, reuse.Stats().ColdStarts)
	median := map[string]float64{}
	for name, all := range times {
		slices.Sort(all)
		median[name] = float64(all[len(all)/2].Microseconds()) / 1000
		b.ReportMetric(median[name], name+"-ms")
	}
	b.ReportMetric(0, "ns/op") // the sum of different things says nothing
	b.ReportMetric(median["reuse"]-median["bare"], "reuse-bare-ms")
	b.ReportMetric(median["next"]-median["bare"], "next-bare-ms")
	b.ReportMetric(median["warm"]/median["reuse"], "warm/reuse")
}

// BenchmarkReuseRate runs small programs two at a time, as plain processes and in containers of a batch in turn, and
// reports how many a second.
func BenchmarkReuseRate(b *testing.B) {
	const atOnce, each = 2, 20
	reuse, root := setup(b, reusing, shortPython(b)), unpackWith(b, benchCode)
	batch := of("bench", sandbox.Program{Language: "python", Source: []byte(benchCode), Limits: sandbox.Overrides{CPUs: ptr(1.0)}})
	rate := func(run func() string) float64 {
		begun := time.Now()
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				for range each {
					assert.Equal(b, "42\n", run())
				}
			})
		}
		all.Wait()
		return atOnce * each / time.Since(begun).Seconds()
	}
	inBatch := func() string {
		result, err := reuse.Run(b.Context(), batch)
		if err != nil {
			return err.Error()
		}
		return string(result.Stdout.Data)
	}
	rate(inBatch)
	var plain, kept, ratios []float64
	for b.Loop() {
		plain = append(plain, rate(func() string { return bareArgv(b, root, "/usr/bin/python3", "-S", "/main.py") }))
		kept = append(kept, rate(inBatch))
		ratios = append(ratios, kept[len(kept)-1]/plain[len(plain)-1])
	}
	b.ReportMetric(0, "ns/op")
	for unit, all := range map[string][]float64{"bare/s": plain, "reuse/s": kept, "reuse/bare": ratios} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
}

// shortPython is a language whose interpreter starts in the shortest time.
func shortPython(b *testing.B) func(*Options) {
	b.Helper()
	table, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "python", Image: testenv.Image(b), File: "main.py", Run: []string{"python3", "-S", "{file}"}},
	})
	require.NoError(b, err)
	return func(o *Options) { o.Languages = table }
}

// unpackWith makes a directory with the image's files and a program /main.py.
func unpackWith(b *testing.B, code string) string {
	b.Helper()
	root := unpack(b, testenv.Image(b))
	require.NoError(b, os.WriteFile(filepath.Join(root, "main.py"), []byte(code), 0o644))
	return root
}
