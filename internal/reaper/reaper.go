package reaper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	// DefaultGrace is the age below which a container is not removed for want of an owner: a
	// worker starts warm containers before it tells that it lives.
	DefaultGrace = time.Minute
	// DefaultConfirm is longer than the heartbeat of a worker is valid, so that a worker which
	// was cut off from Redis for a moment has come back by the second look.
	DefaultConfirm = 6 * time.Second
	// DefaultVolumeAge is the age at which an unused volume counts as left from an older
	// version. Between two jobs of a worker without warm containers nothing uses the current one.
	DefaultVolumeAge = 24 * time.Hour
)

// Options configure a [Reaper].
type Options struct {
	// Installation is the id whose containers and volumes are swept.
	Installation string
	// Self is the id of the worker that sweeps; it cleans up its own containers by itself.
	Self string
	// Alive tells which of the workers live. While it fails, or takes Self for dead, nothing is removed.
	Alive func(ctx context.Context, workers ...string) (map[string]bool, error)
	// Volumes are those with the worker's own sandbox-init, which are never removed.
	Volumes []string
	// Grace defaults to DefaultGrace and Confirm, the time between the two looks, to DefaultConfirm.
	Grace, Confirm time.Duration
	// VolumeAge is the age below which an unused volume is kept; it defaults to DefaultVolumeAge.
	VolumeAge time.Duration
	// Log is told of each removal; nil is slog.Default().
	Log *slog.Logger
}

// Reaper sweeps one Docker daemon. It can be used from several goroutines.
type Reaper struct {
	docker  *client.Client
	options Options
}

// New makes a reaper. The caller keeps the client and closes it.
func New(docker *client.Client, o Options) (*Reaper, error) {
	if o.Installation == "" || o.Alive == nil {
		return nil, errors.New("reaper options: Installation and Alive must be set")
	}
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	o.Confirm = cmp.Or(o.Confirm, DefaultConfirm)
	o.VolumeAge = cmp.Or(o.VolumeAge, DefaultVolumeAge)
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Reaper{docker: docker, options: o}, nil
}

// Report is what a sweep saw and did.
type Report struct {
	// Seen is the number of containers of the installation.
	Seen int
	// Removed are those that are gone, and Volumes and Networks the names of removed volumes and networks.
	Removed  []Removed
	Volumes  []string
	Networks []string
}

// Removed is a container that was removed.
type Removed struct {
	ID, Name, Job, Owner string
	// Reason is "expired" or "owner is dead".
	Reason string
}

// Sweep removes once what nobody needs. When it finds containers without a living owner it
// waits Options.Confirm before it looks again and removes them, so it belongs into the
// background. If nobody can say which owners live, nothing is removed. The error joins what
// else went wrong; the rest was done nevertheless.
func (r *Reaper) Sweep(ctx context.Context) (Report, error) {
	now, err := r.daemonTime(ctx)
	if err != nil {
		return Report{}, err
	}
	all, err := r.docker.ContainerList(ctx, container.ListOptions{All: true, Filters: r.ours()})
	if err != nil {
		return Report{}, fmt.Errorf("list containers: %w", err)
	}
	all, settleErr := r.settle(ctx, all)
	report := Report{Seen: len(all)}
	late, asked := r.sort(all, now)
	suspects, err := r.ownerless(ctx, slices.Concat(late, asked))
	if err != nil {
		return report, errors.Join(settleErr, err)
	}
	removed, expiredErr := r.removeAll(ctx, late, "expired")
	report.Removed = removed
	orphans, aliveErr := r.confirm(ctx, slices.DeleteFunc(suspects, among(late)))
	removed, orphanErr := r.removeAll(ctx, orphans, "owner is dead")
	report.Removed = append(report.Removed, removed...)
	volumes, volumeErr := r.sweepVolumes(ctx, now)
	networks, networkErr := r.sweepNetworks(ctx, now)
	report.Volumes, report.Networks = volumes, networks
	return report, errors.Join(settleErr, expiredErr, aliveErr, orphanErr, volumeErr, networkErr)
}

// sort returns the containers that are past their expiry and those whose owners must be asked about.
func (r *Reaper) sort(all []container.Summary, now time.Time) (late, asked []container.Summary) {
	for _, c := range all {
		switch verdict, why := r.judge(c, now); verdict {
		case expired:
			late = append(late, c)
		case ask:
			asked = append(asked, c)
		case unreadable:
			r.options.Log.Warn("container of ours is kept: its labels cannot be understood", "container", c.ID, "because", why)
		case keep:
		}
	}
	return late, asked
}

func among(some []container.Summary) func(container.Summary) bool {
	return func(c container.Summary) bool {
		return slices.ContainsFunc(some, func(other container.Summary) bool { return other.ID == c.ID })
	}
}

// confirm returns those of the suspects whose owner does not live after Options.Confirm either.
func (r *Reaper) confirm(ctx context.Context, suspects []container.Summary) ([]container.Summary, error) {
	if len(suspects) == 0 {
		return nil, nil
	}
	timer := time.NewTimer(r.options.Confirm)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to confirm dead owners: %w", ctx.Err())
	case <-timer.C:
	}
	return r.ownerless(ctx, suspects)
}

// ownerless returns the containers whose owner does not live.
func (r *Reaper) ownerless(ctx context.Context, asked []container.Summary) ([]container.Summary, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	var owners []string
	if r.options.Self != "" {
		owners = append(owners, r.options.Self)
	}
	for _, c := range asked {
		if owner := c.Labels[labels.Owner]; !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	alive, err := r.options.Alive(ctx, owners...)
	if err != nil {
		return nil, fmt.Errorf("ask which workers live: %w", err)
	}
	// A Redis that was emptied, or fell back to an older state, knows of no worker until each has told it anew.
	if r.options.Self != "" && !alive[r.options.Self] {
		return nil, fmt.Errorf("ask which workers live: not even %s, which asks, is said to live: nothing is removed", r.options.Self)
	}
	return slices.DeleteFunc(slices.Clone(asked), func(c container.Summary) bool { return alive[c.Labels[labels.Owner]] }), nil
}

// daemonTime is the clock that a container's creation time was taken from.
func (r *Reaper) daemonTime(ctx context.Context) (time.Time, error) {
	info, err := r.docker.Info(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask docker daemon for its time: %w", err)
	}
	now, err := time.Parse(time.RFC3339Nano, info.SystemTime)
	if err != nil {
		return time.Time{}, fmt.Errorf("read docker daemon's time: %w", err)
	}
	return now, nil
}

func (r *Reaper) ours() filters.Args {
	return filters.NewArgs(filters.Arg("label", labels.Installation+"="+r.options.Installation))
}
