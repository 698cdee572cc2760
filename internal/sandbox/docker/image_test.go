package docker

import (
	"context"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	dockerimage "github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// awkwardImage is the test image with everything that an image can ask for.
func awkwardImage(t *testing.T) string {
	t.Helper()
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	name := "sandloop-test/" + strings.ToLower(t.Name())
	created, err := docker.ContainerCreate(t.Context(), &container.Config{Image: testenv.Image(t), Cmd: []string{"true"}}, nil, nil, nil, "")
	require.NoError(t, err)
	_, err = docker.ContainerCommit(t.Context(), created.ID, container.CommitOptions{Reference: name, Changes: []string{
		`VOLUME ["/data", "/tmp", "/workspace"]`, `ENTRYPOINT ["/bin/false"]`, `CMD ["never"]`, "USER root", "WORKDIR /data",
		"HEALTHCHECK --interval=1s CMD false", "ENV MARK=of-the-image",
	}})
	require.NoError(t, err)
	require.NoError(t, docker.ContainerRemove(t.Context(), created.ID, container.RemoveOptions{}))
	t.Cleanup(func() {
		_, err := docker.ImageRemove(context.Background(), name, dockerimage.RemoveOptions{Force: true})
		require.NoError(t, err)
		require.NoError(t, docker.Close())
	})
	return name
}

// Not parallel: other tests make volumes without a name, too.
func TestAnyImageIsTakenUnchangedAndUnobeyed(t *testing.T) {
	testenv.Docker(t)
	name := awkwardImage(t)
	b := setup(t, func(o *Options) { o.Languages = testLanguages(t, name) })
	anonymous := func() int {
		list, err := b.docker.VolumeList(context.Background(), volume.ListOptions{Filters: filters.NewArgs(filters.Arg("dangling", "true"))})
		require.NoError(t, err)
		count := 0
		for _, v := range list.Volumes {
			if len(v.Name) == 64 {
				count++
			}
		}
		return count
	}
	before := anonymous()
	got := b.run(t, bash(
		"id -u; pwd; echo $MARK",
		"touch /data/x 2>/dev/null && echo wrote; grep -c '^tmpfs /data tmpfs ro,' /proc/mounts",
		"grep -cE '^tmpfs (/tmp|/workspace) tmpfs rw,' /proc/mounts",
	))
	require.Equal(t, "65534\n/workspace\nof-the-image\n1\n2\n", string(got.Stdout.Data), "%s %s", got.Message, got.Stderr.Data)
	require.NoError(t, b.Close(t.Context()))
	require.LessOrEqual(t, anonymous(), before, "no volume without a name is left")
}
