package reaper

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/mount"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestASweepTakesWhatDeadWorkersLeftInEveryStateAndNothingElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	orphans := b.inEveryState(b.of(deadOne, map[string]string{labels.Job: "job-1", labels.Attempt: "1"}))
	late := b.create(b.of(liveOne, map[string]string{labels.Expires: unix(time.Now().Add(-time.Hour))}))
	kept := b.inEveryState(b.of(liveOne, nil))
	kept = append(kept,
		b.create(nil), // not ours
		b.create(b.of(deadOne, map[string]string{labels.Installation: "other-" + b.installation})),
		b.create(b.of(deadOne, map[string]string{labels.Installation: ""})),
		b.create(b.of(deadOne, map[string]string{labels.Expires: "soon"})),
		b.create(b.of(deadOne, map[string]string{labels.Expires: ""})),
		b.create(b.of(deadOne, map[string]string{labels.Role: "guest"})),
		b.create(b.of("", nil)),
	)

	report, err := b.sweepOld(b.reaper(nil))
	require.NoError(t, err)
	require.ElementsMatch(t, append(orphans, late), idsOf(report.Removed))
	require.ElementsMatch(t, kept, b.left())
	for _, removed := range report.Removed {
		if removed.ID == late {
			require.Equal(t, "expired", removed.Reason)
			continue
		}
		require.Equal(t, "owner is dead", removed.Reason)
		require.Equal(t, "job-1", removed.Job)
		require.Equal(t, deadOne, removed.Owner)
		require.NotEmpty(t, removed.Name)
	}
}

func TestAnonymousVolumesGoWithTheirContainer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of(deadOne, nil), mount.Mount{Type: mount.TypeVolume, Target: "/data"})
	inspected, err := b.docker.ContainerInspect(t.Context(), id)
	require.NoError(t, err)
	name := inspected.Mounts[0].Name
	require.NotEmpty(t, name)
	_, err = b.sweepOld(b.reaper(nil))
	require.NoError(t, err)
	_, err = b.docker.VolumeInspect(t.Context(), name)
	require.True(t, errdefs.IsNotFound(err), "%v", err)
}

func TestAYoungContainerIsNotTakenFromItsOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of(deadOne, nil))
	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour }))
	require.NoError(t, err)
	require.Empty(t, report.Removed)
	require.Equal(t, []string{id}, b.left())
}

func TestAWorkerSweepsAroundItsOwnContainers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of(deadOne, nil))
	_, err := b.sweepOld(b.reaper(func(o *Options) { o.Self = deadOne }))
	require.NoError(t, err)
	require.Equal(t, []string{id}, b.left())
}

func TestAnOwnerThatIsBackByTheSecondLookKeepsItsContainers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of("blinked", nil))
	var looks atomic.Int32
	report, err := b.sweepOld(b.reaper(func(o *Options) {
		o.Alive = func(context.Context, ...string) (map[string]bool, error) {
			return map[string]bool{"blinked": looks.Add(1) == 2}, nil
		}
	}))
	require.NoError(t, err)
	require.EqualValues(t, 2, looks.Load())
	require.Empty(t, report.Removed)
	require.Equal(t, []string{id}, b.left())
}

func TestASweepThatIsStoppedBetweenTheLooksTakesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of(deadOne, nil))
	_, err := b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour }))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = b.reaper(func(o *Options) {
		o.Confirm = time.Hour
		o.Alive = func(context.Context, ...string) (map[string]bool, error) {
			cancel()
			return nil, nil
		}
	}).Sweep(ctx)
	require.ErrorContains(t, err, "wait to confirm dead owners: context canceled")
	require.Equal(t, []string{id}, b.left())
}

func TestSweepsAtTheSameTimeDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 12 {
		b.create(b.of(deadOne, nil))
	}
	_, err := b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour }))
	require.NoError(t, err)
	var sweeps sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		sweeps.Go(func() { _, errs[i] = b.reaper(nil).Sweep(t.Context()) })
	}
	sweeps.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(b.left()) == 0 }, testenv.Scale(t, patience), 50*time.Millisecond)
}
