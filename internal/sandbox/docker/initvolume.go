package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	// fillTimeout bounds the filling of the volume, the wait for another worker included.
	fillTimeout = 90 * time.Second
	// fillStale is the age at which the container of another worker's filling is given up for dead.
	fillStale = 30 * time.Second
	fillPoll  = 50 * time.Millisecond
)

// InitVolumes are the names of the volumes with this worker's sandbox-init, that for the usual runtime first. They must stay as
// long as the Runner is open.
func (r *Runner) InitVolumes() (names []string) {
	for _, gVisor := range r.onEither() {
		names = append(names, r.init.volume(gVisor))
	}
	return names
}

// onEither tells of the usual runtime, and then of one that is of the other kind if there is any, whether it is gVisor's.
func (r *Runner) onEither() []bool {
	kinds := []bool{r.onGVisor(r.options.Runtime)}
	for _, rule := range r.options.Runtimes {
		if kind := r.onGVisor(rule.Runtime); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// onGVisor tells whether a runtime, or with "" that of the daemon, is gVisor's.
func (r *Runner) onGVisor(runtime string) bool { return r.daemon.gVisor[r.daemon.runtimeName(runtime)] }

// fillVolume makes sure that the volume exists and holds sandbox-init. Workers that
// do it at the same time take turns: the name of the container through which it is filled is the lock.
func (r *Runner) fillVolume(ctx context.Context, imageID string, gVisor bool) (err error) {
	name := r.init.volume(gVisor)
	ctx, cancel := context.WithTimeout(ctx, fillTimeout)
	defer cancel()
	_, err = r.docker.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: volumeLabels(r.options.Installation)})
	if err != nil {
		return fmt.Errorf("create volume %s: %w", name, err)
	}
	id, err := r.lockVolume(ctx, name, imageID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.removeID(ctx, id)) }()
	stat, err := r.docker.ContainerStatPath(ctx, id, initDir+"/"+initName)
	if err == nil && stat.Size == int64(len(r.init.content)) {
		return nil
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("look into volume %s: %w", name, err)
	}
	content, err := ArchiveInit(r.init.content, gVisor)
	if err != nil {
		return err
	}
	if err := r.docker.CopyToContainer(ctx, id, "/", bytes.NewReader(content), container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("copy sandbox-init into volume %s: %w", name, err)
	}
	return nil
}

// lockVolume creates the container through which the volume is filled. It is never started.
func (r *Runner) lockVolume(ctx context.Context, volume, imageID string) (string, error) {
	name := volume + "-fill"
	config, host := FillConfig(ContainerSpec{
		ImageID: imageID, InitVolume: volume, Installation: r.options.Installation, Worker: r.options.Worker, Expires: time.Now().Add(fillTimeout),
	})
	for {
		// Not canceled with ctx: a container that was created unseen would hold the lock.
		created, err := r.docker.ContainerCreate(context.WithoutCancel(ctx), config, host, nil, nil, name)
		if err == nil {
			return created.ID, nil
		}
		if !errdefs.IsConflict(err) {
			return "", fmt.Errorf("create container %s: %w", name, err)
		}
		if err := r.breakLock(ctx, name); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for container %s of another worker: %w", name, ctx.Err())
		case <-time.After(fillPoll):
		}
	}
}

// FillConfig makes the configuration of the container through which InitVolume is filled. It has no limits, since it is never started.
func FillConfig(c ContainerSpec) (*container.Config, *container.HostConfig) {
	config := &container.Config{Image: c.ImageID, Entrypoint: []string{"never-started"}, NetworkDisabled: true, Labels: volumeLabels(c.Installation)}
	config.Labels[labels.Owner] = c.Worker
	config.Labels[labels.Expires] = strconv.FormatInt(c.Expires.Unix(), 10)
	return config, &container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: c.InitVolume, Target: initDir}}}
}

// breakLock removes another worker's container if that worker must have died over it.
func (r *Runner) breakLock(ctx context.Context, name string) error {
	other, err := r.docker.ContainerInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", name, err)
	}
	created, err := time.Parse(time.RFC3339Nano, other.Created)
	if err != nil || time.Since(created) < fillStale || other.Config.Labels[labels.Role] != labels.RoleInitVolume {
		return nil //nolint:nilerr // a creation time that cannot be read is no reason to break the lock
	}
	return r.removeID(ctx, other.ID)
}
