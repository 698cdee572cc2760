package supervisor_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func decode(t *testing.T, payload []byte, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(payload, into), "%s", payload)
}

func TestVeryShortProgramIsWhole(t *testing.T) {
	t.Parallel()
	r := run(t, command("sh", "-c", "echo out; echo err >&2; exit 7"))
	require.Empty(t, r.fault)
	require.Equal(t, "out\n", string(r.stdout))
	require.Equal(t, "err\n", string(r.stderr))
	step := r.last()
	require.Equal(t, 7, step.ExitCode)
	require.Zero(t, step.Signal)
	require.Empty(t, step.Cause)
	require.Equal(t, int64(4), step.StdoutTotal)
	require.Equal(t, int64(4), step.StderrTotal)
	require.Positive(t, step.Duration)
	require.Positive(t, step.CPUUser+step.CPUSystem)
	require.Greater(t, step.PeakMemory, int64(100<<10))
	require.Less(t, step.PeakMemory, int64(64<<20))
}

func TestReadyTellsTheHeadroom(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	require.Equal(t, wire.Ready{Version: wire.Version, Threads: wire.HeadroomPIDs}, b.ready)
}

func TestStdinReachesItsEndAndCannotBeChanged(t *testing.T) {
	t.Parallel()
	j := python(`
import sys, os
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(data)
try:
    os.pwrite(0, b"x", 0)
except OSError as e:
    print(type(e).__name__, file=sys.stderr)
`)
	j.stdin = bytes.Repeat([]byte("\x00\xff line\r\n"), 5000) // 45,000 bytes
	r := run(t, j)
	require.Equal(t, j.stdin, r.stdout)
	require.NotEmpty(t, strings.TrimSpace(string(r.stderr)))
	require.Zero(t, r.last().ExitCode)
}

func TestNoStdinIsTheEndAtOnce(t *testing.T) {
	t.Parallel()
	r := run(t, command("cat"))
	require.Empty(t, r.stdout)
	require.Zero(t, r.last().ExitCode)
}
