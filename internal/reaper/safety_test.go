package reaper

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// named makes a container that was never started, under a name.
func (b *bench) named(name string, set map[string]string) string {
	b.t.Helper()
	id := b.create(set)
	require.NoError(b.t, b.docker.ContainerRename(b.t.Context(), id, name))
	return id
}

// without returns the labels of a dead worker's expired sandbox, but for the named ones.
func (b *bench) without(names ...string) map[string]string {
	set := b.of(deadOne, map[string]string{labels.Expires: "1", labels.Job: "job-1", labels.Attempt: "1"})
	for _, name := range names {
		delete(set, name)
	}
	return set
}

// with returns labels of a dead worker's expired sandbox and one that is to be different.
func (b *bench) with(name, value string) map[string]string {
	set := b.without()
	maps.Copy(set, map[string]string{name: value})
	return set
}

func TestNamesAndOtherLabelsMakeNothingOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unique := ulid.Make().String()
	kept := []string{
		b.named(labels.JobName(unique, 1), nil),
		b.named(labels.JobName(unique, 2), b.without(labels.Installation)),
		b.named("sandloop-"+deadOne+"-"+unique, map[string]string{"dev.sandloop": b.installation}),
		b.create(map[string]string{"dev.sandloop.installation.id": b.installation, labels.Role: labels.RoleSandbox}),
		b.create(map[string]string{"DEV.SANDLOOP.INSTALLATION": b.installation, labels.Role: labels.RoleSandbox}),
		b.create(map[string]string{"installation": labels.Installation + "=" + b.installation, labels.Role: labels.RoleSandbox}),
		b.create(b.with(labels.Installation, b.installation+"2")),
		b.create(b.with(labels.Installation, b.installation[:len(b.installation)-1])),
		b.create(b.with(labels.Installation, b.installation+"="+b.installation)),
		b.create(b.with(labels.Installation, " "+b.installation)),
		b.create(b.with(labels.Installation, "*")),
		b.create(b.with(labels.Installation, "")),
	}
	mine := b.create(b.without())

	report, err := b.sweepOld(b.reaper(func(o *Options) { o.VolumeAge = time.Nanosecond }))
	require.NoError(t, err)
	require.Equal(t, []string{mine}, idsOf(report.Removed))
	require.ElementsMatch(t, kept, b.left())
}

func TestLabelsOfOursThatMakeNoSenseKeepAContainer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	kept := []string{
		b.create(b.with(labels.Expires, "1e3")),
		b.create(b.with(labels.Expires, "0x10")),
		b.create(b.with(labels.Expires, " 1")),
		b.create(b.with(labels.Expires, "1\n")),
		b.create(b.with(labels.Expires, "-9223372036854775808")),
		b.create(b.with(labels.Role, "Sandbox")),
		b.create(b.with(labels.Role, labels.RoleSandbox+" ")),
		b.create(b.without(labels.Role)),
		b.create(b.without(labels.Owner)),
		b.create(b.with(labels.Owner, "")),
	}
	report, err := b.sweepOld(b.reaper(nil))
	require.NoError(t, err)
	require.Equal(t, len(kept), report.Seen)
	require.Empty(t, report.Removed)
	require.ElementsMatch(t, kept, b.left())
}

func TestVolumesThatAreInUseOrNotOursStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lookalike, err := b.docker.VolumeCreate(t.Context(), volume.CreateOptions{
		Name: "sandloop-init-" + ulid.Make().String(), Labels: map[string]string{"dev.sandloop.test": b.installation, labels.Role: labels.RoleInitVolume},
	})
	require.NoError(t, err)
	byExited, byForeign := b.volume(b.installation, labels.RoleInitVolume), b.volume(b.installation, labels.RoleInitVolume)
	b.create(b.of(liveOne, nil), mount.Mount{Type: mount.TypeVolume, Source: byExited, Target: "/.sandloop"})
	b.create(nil, mount.Mount{Type: mount.TypeVolume, Source: byForeign, Target: "/data"})
	kept := []string{lookalike.Name, byExited, byForeign, b.volume(b.installation, ""), b.volume(b.installation+"2", labels.RoleInitVolume)}
	unused := b.volume(b.installation, labels.RoleInitVolume)

	r := b.reaper(func(o *Options) { o.VolumeAge = time.Nanosecond })
	require.Eventually(t, func() bool {
		report, err := b.sweepOld(r)
		return err == nil && len(report.Volumes) == 1 && report.Volumes[0] == unused
	}, testenv.Scale(t, patience), 50*time.Millisecond)
	require.ElementsMatch(t, kept, b.volumesLeft())
}

// The clock of the owner's host may be years behind, so that what it starts is past its expiry at once.
func TestWhatALiveWorkerRunsIsKeptWhateverItsExpirySays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	inEach := b.inEveryState(b.of(liveOne, map[string]string{labels.Expires: "1"}))
	created, running, paused, exited := inEach[0], inEach[1], inEach[2], inEach[3]

	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Grace = time.Hour }))
	require.NoError(t, err)
	require.Empty(t, report.Removed, "none is an hour old")

	report, err = b.sweepOld(b.reaper(nil))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{created, exited}, idsOf(report.Removed), "they run nothing")
	require.ElementsMatch(t, []string{running, paused}, b.left())

	report, err = b.sweepOld(b.reaper(func(o *Options) { o.Alive = nobodyLives }))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{running, paused}, idsOf(report.Removed))
}

func nobodyLives(context.Context, ...string) (map[string]bool, error) { return nil, nil }

func TestWithoutAnAnswerFromRedisNothingGoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := []string{b.create(b.of(deadOne, nil)), b.create(b.without())}
	unused := b.volume(b.installation, labels.RoleInitVolume)
	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Alive, o.VolumeAge = redisIsDown, time.Nanosecond }))
	require.ErrorContains(t, err, "redis is down")
	require.Empty(t, report.Removed)
	require.ElementsMatch(t, all, b.left())
	require.Equal(t, []string{unused}, b.volumesLeft())
}

func TestARedisThatGoesAwayBetweenTheLooksSavesTheSuspects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(b.of(deadOne, nil))
	var looks atomic.Int32
	report, err := b.sweepOld(b.reaper(func(o *Options) {
		o.Alive = func(context.Context, ...string) (map[string]bool, error) {
			if looks.Add(1) == 2 {
				return nil, errors.New("redis is gone")
			}
			return nil, nil
		}
	}))
	require.ErrorContains(t, err, "redis is gone")
	require.Empty(t, report.Removed)
	require.Equal(t, []string{id}, b.left())
}

// onRedis is a reaper of the worker "me" that asks a Redis as a real worker's does.
func (b *bench) onRedis(rdb *redis.Client) *Reaper {
	b.t.Helper()
	return b.reaper(func(o *Options) {
		o.Self, o.Alive = "me", jobs.NewClient(rdb, jobs.ClientOptions{}).WorkerAlive
	})
}

func TestARedisThatWasEmptiedCondemnsNobody(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	defer func() { require.NoError(t, rdb.Close()) }()
	beats := func(workers ...string) {
		for _, worker := range workers {
			require.NoError(t, rdb.Set(t.Context(), "sandloop:worker:"+worker, "{}", time.Hour).Err())
		}
	}
	beats("me", liveOne)
	b := setup(t)
	warm, orphan := b.create(b.of(liveOne, nil)), b.create(b.of(deadOne, nil))
	late := b.create(b.without())
	all := []string{warm, orphan, late}

	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	report, err := b.sweepOld(b.onRedis(rdb))
	require.ErrorContains(t, err, "not even me, which asks, is said to live")
	require.Empty(t, report.Removed)
	require.ElementsMatch(t, all, b.left())

	server.End(syscall.SIGKILL)
	report, err = b.sweepOld(b.onRedis(rdb))
	require.ErrorContains(t, err, "ask which workers live: ")
	require.Empty(t, report.Removed)
	require.ElementsMatch(t, all, b.left())

	server.Start(t) // with nothing in it
	_, err = b.sweepOld(b.onRedis(rdb))
	require.Error(t, err)
	require.ElementsMatch(t, all, b.left())

	beats("me", liveOne)
	report, err = b.sweepOld(b.onRedis(rdb))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{orphan, late}, idsOf(report.Removed))
	require.Equal(t, []string{warm}, b.left())
}

// Each installation lives on a Redis of its own, in which the other's workers are unknown.
func TestTwoInstallationsOnOneDaemonLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	theirs := "other-" + b.installation
	running := b.inEveryState(b.of("their-worker", map[string]string{labels.Installation: theirs}))
	orphan := b.create(b.of("their-dead-worker", map[string]string{labels.Installation: theirs}))
	mine := b.create(b.of(deadOne, nil))

	report, err := b.sweepOld(b.reaper(func(o *Options) { o.Alive = nobodyLives }))
	require.NoError(t, err)
	require.Equal(t, 1, report.Seen)
	require.Equal(t, []string{mine}, idsOf(report.Removed))
	require.ElementsMatch(t, append(running, orphan), b.left())

	report, err = b.sweepOld(b.reaper(func(o *Options) {
		o.Installation = theirs
		o.Alive = func(context.Context, ...string) (map[string]bool, error) {
			return map[string]bool{"their-worker": true}, nil
		}
	}))
	require.NoError(t, err)
	require.Equal(t, []string{orphan}, idsOf(report.Removed))
	require.ElementsMatch(t, running, b.left())
}
