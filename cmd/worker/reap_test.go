package main

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestAWorkerRemovesWhatADeadOneLeft(t *testing.T) {
	t.Parallel()
	configuration := onDocker(t)
	addr := testenv.RedisServer(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	installation := "test-" + ulid.Make().String()
	require.NoError(t, rdb.Set(t.Context(), "sandloop:installation", installation, 0).Err())

	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	orphan, err := docker.ContainerCreate(t.Context(), &container.Config{
		Image: testenv.Image(t), NetworkDisabled: true,
		Labels: map[string]string{
			labels.Installation: installation, labels.Role: labels.RoleSandbox, labels.Owner: "dead-worker",
			labels.Expires: strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10),
		},
	}, nil, nil, nil, "")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = docker.ContainerRemove(context.WithoutCancel(t.Context()), orphan.ID, container.RemoveOptions{Force: true})
	})

	w := start(t, configuration+fmt.Sprintf("redis: {addr: %q}\nreaper: {period: 5s, grace: 1s}\n", addr))
	w.untilStarted(t)
	require.Eventually(t, func() bool {
		_, err := docker.ContainerInspect(t.Context(), orphan.ID)
		return errdefs.IsNotFound(err)
	}, testenv.Scale(t, patience), 100*time.Millisecond)
	w.stop()
	code, said := w.end(t)
	require.Equal(t, 0, code, said)
	requireNoContainers(t, installation)
}
