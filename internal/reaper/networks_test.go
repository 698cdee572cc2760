package reaper

import (
	"context"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// network makes one that is removed with the test if it is left.
func (b *bench) network(subnet, installation, role, owner string) string {
	b.t.Helper()
	name := "sandloop-test-" + ulid.Make().String()
	_, err := b.docker.NetworkCreate(b.t.Context(), name, network.CreateOptions{
		Internal: true, IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}},
		Labels: map[string]string{labels.Installation: installation, labels.Role: role, labels.Owner: owner, "dev.sandloop.test": b.installation},
	})
	require.NoError(b.t, err)
	return name
}

func (b *bench) networksLeft() (names []string) {
	b.t.Helper()
	list, err := b.docker.NetworkList(context.Background(), network.ListOptions{
		Filters: filters.NewArgs(filters.Arg("label", "dev.sandloop.test="+b.installation)),
	})
	require.NoError(b.t, err)
	for _, n := range list {
		names = append(names, n.Name)
	}
	return names
}

func TestNetworksOfDeadWorkersGoOnceNothingUsesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var stranger container.CreateResponse
	t.Cleanup(func() {
		require.NoError(t, b.remove(context.Background(), stranger.ID))
		for _, name := range b.networksLeft() {
			require.NoError(t, b.docker.NetworkRemove(context.Background(), name))
		}
	})
	dead := b.network("198.19.250.0/29", b.installation, labels.RoleLane, deadOne)
	used := b.network("198.19.250.8/29", b.installation, labels.RoleLane, deadOne)
	kept := []string{
		b.network("198.19.250.16/29", b.installation, labels.RoleLane, liveOne),
		b.network("198.19.250.24/29", b.installation, "another", deadOne),
		b.network("198.19.250.32/29", "other-"+b.installation, labels.RoleLane, deadOne),
		b.network("198.19.250.40/29", b.installation, labels.RoleLane, ""),
	}
	// A stranger's container in a network of ours keeps it, and is not touched.
	var err error
	stranger, err = b.docker.ContainerCreate(t.Context(),
		&container.Config{Image: b.image, Cmd: []string{"sleep", "300"}, Labels: map[string]string{"dev.sandloop.test": b.installation}},
		&container.HostConfig{NetworkMode: container.NetworkMode(used)}, nil, nil, "")
	require.NoError(t, err)
	require.NoError(t, b.docker.ContainerStart(t.Context(), stranger.ID, container.StartOptions{}))

	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Alive = redisIsDown }))
	require.Error(t, err)
	require.Empty(t, report.Networks, "nobody can say who lives")
	report, err = b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour }))
	require.NoError(t, err)
	require.Empty(t, report.Networks, "none is an hour old")

	report, err = b.sweepOld(b.reaper(nil))
	require.NoError(t, err)
	require.Equal(t, []string{dead}, report.Networks)
	require.ElementsMatch(t, append(kept, used), b.networksLeft())

	require.NoError(t, b.remove(context.Background(), stranger.ID))
	require.Eventually(t, func() bool {
		report, err = b.sweepOld(b.reaper(nil))
		return err == nil && len(report.Networks) == 1
	}, testenv.Scale(t, patience), 50*time.Millisecond)
	require.Equal(t, []string{used}, report.Networks)
	require.ElementsMatch(t, kept, b.networksLeft())
}
