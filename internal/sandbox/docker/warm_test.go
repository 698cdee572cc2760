package docker

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestWarmContainerIsTakenOnceAndReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	first := b.containers(t)
	require.Len(t, first, 1)
	got := b.run(t, bash("echo $$ > /tmp/mark; ls -a /tmp /workspace | wc -l"))
	require.True(t, got.Enforcement.Warm)
	require.NoError(t, b.Warm(t.Context()))
	got = b.run(t, bash("cat /tmp/mark"))
	require.True(t, got.Enforcement.Warm)
	require.Contains(t, string(got.Stderr.Data), "No such file", "no other program was here")
	require.EqualValues(t, 2, b.Stats().WarmHits)
	require.Zero(t, b.Stats().ColdStarts)
	require.Eventually(t, func() bool {
		for _, c := range b.containers(t) {
			if c.ID == first[0].ID {
				return false
			}
		}
		return true
	}, testenv.Scale(t, 20*time.Second), 20*time.Millisecond)
}

func TestWarmContainerIsAdoptedForOtherLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	for _, o := range []sandbox.Overrides{
		{Memory: ptr(512 * sandbox.MiB), CPUs: ptr(1.5), PIDs: ptr(100)},
		{Memory: ptr(32 * sandbox.MiB), CPUs: ptr(0.1), PIDs: ptr(3)}, // from the 512 MiB of the last: down again
	} {
		require.NoError(t, b.Warm(t.Context()))
		p := bash("echo ok")
		p.Limits = o
		got := b.run(t, p)
		require.Equal(t, "ok\n", string(got.Stdout.Data), got.Message)
		require.True(t, got.Enforcement.Warm)
		require.Equal(t, *o.Memory, got.Enforcement.MemoryBytes)
		require.Zero(t, got.Enforcement.SwapBytes)
		require.InDelta(t, *o.CPUs, got.Enforcement.CPUs, 1e-9)
		require.Equal(t, *o.PIDs, got.Enforcement.PIDs)
	}
	require.EqualValues(t, 2, b.Stats().Adopted)
}

func TestWarmContainerThatDiedIsReplacedWithoutHarm(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(2))
	require.NoError(t, b.Warm(t.Context()))
	for _, c := range b.containers(t) {
		require.NoError(t, b.docker.ContainerKill(t.Context(), c.ID, "SIGKILL"))
	}
	got := b.run(t, bash("echo fine"))
	require.Equal(t, "fine\n", string(got.Stdout.Data))
	require.False(t, got.Enforcement.Warm)
	require.EqualValues(t, 1, b.Stats().Stale)
}

func TestDeadWarmContainerThatNeedsOtherLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	for _, c := range b.containers(t) {
		require.NoError(t, b.docker.ContainerRemove(t.Context(), c.ID, container.RemoveOptions{Force: true}))
	}
	p := bash("echo fine")
	p.Limits.Memory = ptr(100 * sandbox.MiB)
	require.Equal(t, "fine\n", string(b.run(t, p).Stdout.Data))
	require.NoError(t, b.Warm(t.Context()))
	p.Limits.Memory = ptr(120 * sandbox.MiB)
	require.True(t, b.run(t, p).Enforcement.Warm, "a dead container does not mean that updates are refused")
}

// The daemon can know of a container's end before its connection tells.
func TestDeadWarmContainerWhoseConnectionStillStands(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	require.Equal(t, 1, b.pool.count())
	for _, shelf := range b.pool.shelves {
		box, own := shelf.boxes[0], shelf.boxes[0].conn
		ours, theirs := net.Pipe()
		box.conn = types.NewHijackedResponse(ours, "")
		t.Cleanup(func() { own.Close(); require.NoError(t, theirs.Close()) })
		require.NoError(t, b.docker.ContainerRemove(t.Context(), box.id, container.RemoveOptions{Force: true}))
		require.True(t, box.alive())
	}

	p := bash("echo fine")
	for _, memory := range []int64{100, 120} {
		p.Limits.Memory = ptr(memory * sandbox.MiB)
		got := b.run(t, p)
		require.Equal(t, "fine\n", string(got.Stdout.Data))
		require.Equal(t, memory == 120, got.Enforcement.Warm, "a dead container does not mean that updates are refused")
		require.NoError(t, b.Warm(t.Context()))
	}
}

func TestWarmContainersEndWithTheirWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	boxes := b.pool.close() // what the end of the process does to the connections
	for _, box := range boxes {
		box.hangUp()
	}
	require.Eventually(t, func() bool { return len(b.containers(t)) == 0 }, testenv.Scale(t, 20*time.Second), 20*time.Millisecond)
	for _, box := range boxes {
		require.NoError(t, b.remove(context.Background(), box))
	}
}
