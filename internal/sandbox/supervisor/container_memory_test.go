package supervisor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMemoryFullOfFilesDoesNotTakeTheReport(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"three file systems": {"sh", "-c", "yes | head -c 300000; for d in /dev/shm /tmp /workspace; do cat /dev/zero > $d/big; done; echo full"},
		"one file system":    {"sh", "-c", "yes | head -c 300000; exec cat /dev/zero > /workspace/big"},
		"files and memory":   {"python3", "-c", "print('y' * 300000, flush=True)\nopen('/workspace/big', 'wb').write(bytes(120 << 20))\nx = bytearray(200 << 20)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command(argv...)
			j.Outputs = []string{"*"}
			j.Expect.WorkspaceBytes = 512 * sandbox.MiB
			r := run(t, j, "--tmpfs", "/workspace:rw,exec,nosuid,nodev,size=536870912,mode=1777")
			require.Empty(t, r.fault)
			require.Positive(t, r.last().OOMKills)
			require.Len(t, r.stdout, 65536)
			require.Contains(t, r.refused, "big")
		})
	}
}
