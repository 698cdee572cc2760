package reaper

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/mount"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// orphan is how one kind of what a dead worker leaves comes to be.
type orphan struct {
	kind      string
	state     string            // as Docker names it
	labels    map[string]string // on top of those of a sandbox
	name      func() string
	mounts    []mount.Mount
	throwaway bool // the daemon removes it by itself when it ends
	started   bool
	then      func(ctx context.Context, id string) error
}

const (
	withVolume = "with a volume of its own"
	byOthers   = "being removed by another"
)

// orphanKinds are all of them. current is the volume with sandbox-init that some have mounted.
func (b *bench) orphanKinds(current string) []orphan {
	attempt := func() string { return labels.JobName(ulid.Make().String(), 2) }
	warm := func() string { return "sandloop-" + deadOne + "-" + ulid.Make().String() }
	ofJob := map[string]string{labels.Job: "job-1", labels.Attempt: "1"}
	later := map[string]string{labels.Expires: unix(time.Now().Add(8 * time.Hour))}
	mounted := []mount.Mount{{Type: mount.TypeVolume, Source: current, Target: "/.sandloop", ReadOnly: true}}
	kinds := []orphan{
		{kind: "warm, never started", state: "created", name: warm, mounts: mounted},
		{kind: "of a filling", state: "created", name: warm, labels: map[string]string{labels.Role: labels.RoleInitVolume}, mounts: mounted},
		{kind: "named by attempt", state: "created", name: attempt},
		{kind: "labeled by job", state: "created", name: attempt, labels: ofJob},
		{kind: "expired", state: "created", name: attempt, labels: map[string]string{labels.Expires: "1"}},
		{kind: withVolume, state: "created", name: attempt, mounts: []mount.Mount{{Type: mount.TypeVolume, Target: "/data"}}},
		{kind: "running", state: "running", name: attempt, labels: ofJob, mounts: mounted, throwaway: true, started: true},
		{kind: "held", state: "running", name: attempt, labels: later, started: true},
		{kind: "paused", state: "paused", name: attempt, throwaway: true, started: true, then: b.pause},
		{kind: "exited", state: "exited", name: attempt, started: true, then: b.kill},
		{kind: byOthers, state: "running", name: attempt, throwaway: true, started: true},
	}
	if !b.canHinder() {
		b.t.Log("no container is made dead: Docker's files cannot be locked from here")
		return kinds
	}
	return append(kinds, orphan{kind: "dead", state: "dead", name: attempt, then: b.removeHalf})
}

// orphansWanted is how many orphans are made: two of every kind, or SANDLOOP_TEST_ORPHANS.
func orphansWanted(t *testing.T, kinds int) int {
	t.Helper()
	text := os.Getenv("SANDLOOP_TEST_ORPHANS")
	if text == "" {
		return 2 * kinds
	}
	count, err := strconv.Atoi(text)
	require.NoError(t, err, "SANDLOOP_TEST_ORPHANS")
	return count
}

func TestOrphansOfEveryKindAreGoneAfterOneSweep(t *testing.T) {
	t.Parallel()
	b := setup(t)
	current, forgotten := b.volume(b.installation, labels.RoleInitVolume), b.volume(b.installation, labels.RoleInitVolume)
	kinds := b.orphanKinds(current)
	began := time.Now()
	made := b.makeOrphans(kinds, orphansWanted(t, len(kinds)))
	making := time.Since(began)
	kept := []string{
		b.create(b.of(liveOne, nil)),
		b.create(nil),
		b.create(b.of(deadOne, map[string]string{labels.Installation: "other-" + b.installation})),
	}
	volumes := b.requireMade(made)

	_, err := b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour })) // waits until they are old enough
	require.NoError(t, err)
	var others errgroup.Group
	for id, o := range made {
		if o.kind == byOthers {
			others.Go(func() error { return b.remove(t.Context(), id) })
		}
	}
	began = time.Now()
	report, err := b.reaper(func(o *Options) { o.VolumeAge = time.Nanosecond }).Sweep(t.Context())
	took := time.Since(began)
	require.NoError(t, others.Wait())
	require.NoError(t, err)
	t.Logf("%d orphans of %d kinds made in %s; one sweep of %s removed %d", len(made), len(kinds),
		making.Round(time.Second), took.Round(10*time.Millisecond), len(report.Removed))

	require.Eventually(t, func() bool { return len(b.exist()) <= len(kept) }, testenv.Scale(t, patience), 100*time.Millisecond,
		"what others remove takes a moment more")
	require.ElementsMatch(t, kept, b.exist())
	require.ElementsMatch(t, []string{current, forgotten}, report.Volumes)
	require.Empty(t, b.volumesLeft())
	for _, name := range volumes {
		_, err := b.docker.VolumeInspect(t.Context(), name)
		require.True(t, errdefs.IsNotFound(err), "%v", err)
	}
	gone := idsOf(report.Removed)
	for id, o := range made {
		if o.kind != byOthers {
			require.Contains(t, gone, id, o.kind)
		}
	}
}

// makeOrphans makes count of them, of all kinds in turn.
func (b *bench) makeOrphans(kinds []orphan, count int) map[string]orphan {
	b.t.Helper()
	var (
		mu   sync.Mutex
		made = map[string]orphan{}
	)
	group, ctx := errgroup.WithContext(b.t.Context())
	group.SetLimit(4)
	for i := range count {
		o := kinds[i%len(kinds)]
		group.Go(func() error {
			id, err := b.makeOrphan(ctx, o)
			if err != nil {
				return fmt.Errorf("make orphan %q: %w", o.kind, err)
			}
			mu.Lock()
			defer mu.Unlock()
			made[id] = o
			return nil
		})
	}
	require.NoError(b.t, group.Wait())
	return made
}

// requireMade checks that the orphans are in the states that they should be in, and returns their anonymous volumes.
func (b *bench) requireMade(made map[string]orphan) (volumes []string) {
	b.t.Helper()
	found, owners := 0, 0
	for _, c := range b.list() {
		o, ours := made[c.ID]
		if !ours {
			continue
		}
		found++
		inspected, err := b.docker.ContainerInspect(b.t.Context(), c.ID)
		require.NoError(b.t, err)
		require.Equal(b.t, o.state, inspected.State.Status, "%s is listed as %s", o.kind, c.State)
		if o.kind != withVolume {
			continue
		}
		owners++
		for _, m := range c.Mounts {
			volumes = append(volumes, m.Name)
		}
	}
	require.Len(b.t, made, found)
	require.Len(b.t, volumes, owners)
	return volumes
}
