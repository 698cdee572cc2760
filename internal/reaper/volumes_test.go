package reaper

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func (b *bench) volume(installation, role string) string {
	b.t.Helper()
	made, err := b.docker.VolumeCreate(b.t.Context(), volume.CreateOptions{
		Name: "sandloop-test-" + ulid.Make().String(),
		Labels: map[string]string{
			labels.Installation: installation, labels.Role: role, "dev.sandloop.test": b.installation,
		},
	})
	require.NoError(b.t, err)
	return made.Name
}

func (b *bench) volumesLeft() (names []string) {
	b.t.Helper()
	list, err := b.docker.VolumeList(b.t.Context(), volume.ListOptions{
		Filters: filters.NewArgs(filters.Arg("label", "dev.sandloop.test="+b.installation)),
	})
	require.NoError(b.t, err)
	for _, v := range list.Volumes {
		names = append(names, v.Name)
	}
	return names
}

func TestOnlyOldVolumesOfOursThatNobodyUsesGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.volume(b.installation, labels.RoleInitVolume)
	current := b.volume(b.installation, labels.RoleInitVolume)
	used := b.volume(b.installation, labels.RoleInitVolume)
	b.create(b.of(liveOne, nil), mount.Mount{Type: mount.TypeVolume, Source: used, Target: "/.sandloop"})
	kept := []string{current, used, b.volume(b.installation, "cache"), b.volume("other-"+b.installation, labels.RoleInitVolume)}

	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Volumes = []string{"sandloop-init-of-another", current} }))
	require.NoError(t, err)
	require.Empty(t, report.Volumes, "none is a day old")
	require.ElementsMatch(t, append(kept, old), b.volumesLeft())

	r := b.reaper(func(o *Options) { o.Volumes, o.VolumeAge = []string{current}, time.Nanosecond })
	require.Eventually(t, func() bool {
		report, err = b.sweepOld(r)
		return err == nil && len(report.Volumes) > 0
	}, testenv.Scale(t, patience), 50*time.Millisecond, "Docker tells the age of a volume in whole seconds")
	require.Equal(t, []string{old}, report.Volumes)
	require.ElementsMatch(t, kept, b.volumesLeft())
}
