package reaper

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/stretchr/testify/require"
)

// list returns the test's containers as Docker lists them.
func (b *bench) list() []container.Summary {
	b.t.Helper()
	list, err := b.docker.ContainerList(b.t.Context(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", "dev.sandloop.test="+b.installation)),
	})
	require.NoError(b.t, err)
	return list
}

// exist returns the test's containers that can be inspected: Docker 20.10 can go on listing one that is gone.
func (b *bench) exist() (ids []string) {
	for _, c := range b.list() {
		if _, err := b.docker.ContainerInspect(b.t.Context(), c.ID); !errdefs.IsNotFound(err) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (b *bench) makeOrphan(ctx context.Context, o orphan) (string, error) {
	set := b.of(deadOne, o.labels)
	set["dev.sandloop.test"] = b.installation
	created, err := b.docker.ContainerCreate(ctx,
		&container.Config{Image: b.image, Cmd: []string{"sleep", "3600"}, Labels: set, NetworkDisabled: true},
		&container.HostConfig{Mounts: o.mounts, NetworkMode: "none", AutoRemove: o.throwaway}, nil, nil, o.name())
	if err != nil {
		return "", err
	}
	if o.started {
		if err := b.docker.ContainerStart(ctx, created.ID, container.StartOptions{}); err != nil {
			return "", err
		}
	}
	if o.then != nil {
		err = o.then(ctx, created.ID)
	}
	return created.ID, err
}

func (b *bench) pause(ctx context.Context, id string) error { return b.docker.ContainerPause(ctx, id) }

func (b *bench) kill(ctx context.Context, id string) error {
	if err := b.docker.ContainerKill(ctx, id, "KILL"); err != nil {
		return err
	}
	exited, failed := b.docker.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case <-exited:
		return nil
	case err := <-failed:
		return err
	}
}

// remove does as another worker does at the same time.
func (b *bench) remove(ctx context.Context, id string) error {
	err := b.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

// canHinder tells whether files of the daemon can be made undeletable, which root can where the daemon is local.
func (b *bench) canHinder() bool {
	b.t.Helper()
	info, err := b.docker.Info(b.t.Context())
	require.NoError(b.t, err)
	probe, err := os.CreateTemp(filepath.Join(info.DockerRootDir, "containers"), "probe-")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(probe.Name()) }()
	_ = probe.Close()
	return chattr(b.t.Context(), "+i", probe.Name()) == nil && chattr(b.t.Context(), "-i", probe.Name()) == nil
}

// removeHalf has the daemon fail in the middle of a removal, which leaves a container that is dead.
func (b *bench) removeHalf(ctx context.Context, id string) (err error) {
	info, err := b.docker.Info(ctx)
	if err != nil {
		return err
	}
	stuck := filepath.Join(info.DockerRootDir, "containers", id, "stuck")
	if err := os.WriteFile(stuck, nil, 0o600); err != nil {
		return err
	}
	if err := chattr(ctx, "+i", stuck); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chattr(context.WithoutCancel(ctx), "-i", stuck)) }()
	if b.docker.ContainerRemove(ctx, id, container.RemoveOptions{Force: true}) == nil {
		return errors.New("the container was removed although a file of it cannot be")
	}
	return nil
}

// chattr changes an attribute of a file: i makes it undeletable.
func chattr(ctx context.Context, mode, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, "chattr", mode, path).Run()
}
