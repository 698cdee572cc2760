package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// benchTests is how many tests the submission of the comparison has.
const benchTests = 20

// benchSum reads a number and works for as many rounds: one round is about a nanosecond.
const benchSum = `#include <stdio.h>
int main(void) {
	unsigned long n, x = 1;
	if (scanf("%lu", &n) != 1) return 1;
	for (unsigned long i = 0; i < n; i++) x = x * 6364136223846793005UL + 1442695040888963407UL;
	printf("%lu\n", x);
	return 0;
}
`

// BenchmarkTests runs one C program 20 times in two ways in turn and reports medians and their ratio: as
// tests of one submission, from the first to the last, and as plain processes in the unpacked image.
func BenchmarkTests(b *testing.B) {
	image := testenv.Image(b)
	bundle, root := setup(b, pooled(1)), unpack(b, image)
	require.NoError(b, os.WriteFile(filepath.Join(root, "main.c"), []byte(benchSum), 0o600))
	bareIn(b, root, "", "/usr/bin/gcc", "-O1", "-o", "/bench", "/main.c")
	for name, stdin := range map[string]string{"tiny": "1\n", "50ms": "50000000\n"} {
		b.Run(name, func(b *testing.B) {
			var inSandbox, plain, ratios []float64
			for b.Loop() {
				tests := benchSeries(b, bundle, stdin)
				begun := time.Now()
				for range benchTests {
					bareIn(b, root, stdin, "/bench")
				}
				processes := time.Since(begun)
				inSandbox = append(inSandbox, float64(tests.Microseconds())/1000)
				plain = append(plain, float64(processes.Microseconds())/1000)
				ratios = append(ratios, float64(tests)/float64(processes))
			}
			b.ReportMetric(0, "ns/op")
			for unit, all := range map[string][]float64{"tests-ms": inSandbox, "bare-ms": plain, "tests/bare": ratios} {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2], unit)
			}
		})
	}
}

// benchSeries runs the tests and returns the time from when the first is asked for until the last has its result.
func benchSeries(b *testing.B, bundle *bundle, stdin string) time.Duration {
	b.Helper()
	program := sandbox.Program{Language: "c", Source: []byte(benchSum), Limits: sandbox.Overrides{CPUs: ptr(2.0)}}
	var first, last time.Time
	done := -1
	_, err := bundle.RunTests(b.Context(), program, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		if done++; done == 0 {
			first = time.Now()
		} else {
			require.True(b, previous.OK, previous.Message)
		}
		last = time.Now()
		return sandbox.Test{Stdin: []byte(stdin)}, done < benchTests
	})
	require.NoError(b, err)
	return last.Sub(first)
}

func bareIn(b *testing.B, root, stdin string, argv ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
}
