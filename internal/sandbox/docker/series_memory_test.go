package docker

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Each test reads how much of the memory limit is taken before it has done anything, and then prints so many MiB. What earlier
// tests printed, and what is set aside for outputs, must not be there any more: the next would be out of memory sooner.
func TestLaterTestsHaveAsMuchMemoryAsTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python(`import os, sys
paths = ['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']
sys.stderr.write(open([path for path in paths if os.path.exists(path)][0]).read())
for _ in range(int(sys.stdin.read())):
    sys.stdout.write('x' * (1 << 20))
`)
	output := 8 * sandbox.MiB
	p.Limits = sandbox.Overrides{Output: &output, OutputKill: &output}
	var tests []sandbox.Test
	for _, size := range []string{"0", "0", "0", "7", "7", "7", "0"} {
		tests = append(tests, sandbox.Test{ID: size, Stdin: []byte(size)})
	}
	got, _ := b.runTests(t, p, tests...)
	used := func(i int) int {
		bytes, err := strconv.Atoi(strings.TrimSpace(string(got[i].Stderr.Data)))
		require.NoError(t, err)
		return bytes
	}
	for i := range got {
		require.Equal(t, sandbox.OutcomeOK, got[i].Outcome, got[i].Message)
		require.Less(t, used(i), used(0)+int(4*sandbox.MiB), "test %d", i)
	}
}
