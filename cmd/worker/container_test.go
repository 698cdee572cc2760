package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

const workerImage = "sandloop-test/worker:latest"

// dockerCLI runs the command line client and returns what it printed.
func dockerCLI(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
	require.NoError(t, err, "docker %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// socket is the daemon's socket and the group that may use it.
func socket(t *testing.T) (path, group string) {
	t.Helper()
	path = strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if path == "" {
		path = "/var/run/docker.sock"
	}
	info, err := os.Stat(path)
	require.NoError(t, err, "a worker in a container needs the daemon's socket")
	return path, strconv.FormatUint(uint64(info.Sys().(*syscall.Stat_t).Gid), 10) //nolint:forcetypeassert // on Linux
}

// composeRun turns the worker of docker-compose.yml into the arguments of docker run. Compose
// itself is not needed then, and the Redis may be one on the host's loopback.
func composeRun(t *testing.T, redisAddr, password string) []string {
	t.Helper()
	socketPath, group := socket(t)
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: "../..", ConfigFiles: []types.ConfigFile{{Filename: "../../docker-compose.yml"}},
		Environment: map[string]string{"SANDLOOP_REDIS_PASSWORD": password, "SANDLOOP_DOCKER_GID": group, "SANDLOOP_WORKER_CONCURRENCY": "2"},
	})
	require.NoError(t, err)
	service := project.Services["worker"]
	*service.Environment["SANDLOOP_REDIS_ADDR"] = redisAddr
	*service.Environment["SANDLOOP_ADMIN_ADDR"] = "" // on the host's network they would share it
	args := []string{
		"run", "--detach", "--network", "host", "--read-only=" + strconv.FormatBool(service.ReadOnly),
		"--stop-timeout", strconv.Itoa(int(time.Duration(*service.StopGracePeriod).Seconds())),
	}
	for name, value := range service.Environment {
		args = append(args, "--env", name+"="+*value)
	}
	for _, volume := range service.Volumes {
		args = append(args, "--volume", strings.Replace(volume.Source, "/var/run/docker.sock", socketPath, 1)+":"+volume.Target)
	}
	for flag, values := range map[string][]string{"--cap-drop": service.CapDrop, "--security-opt": service.SecurityOpt, "--group-add": service.GroupAdd} {
		for _, value := range values {
			args = append(args, flag, value)
		}
	}
	return args
}

func TestWorkersInContainersRunJobsAndDrain(t *testing.T) {
	t.Parallel()
	image := testenv.Image(t)
	build := exec.CommandContext(t.Context(), "../../images/worker/build.sh", workerImage)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { dockerCLI(t, "image", "rm", workerImage) })

	const password = "sword fish"
	addr := testenv.RedisServer(t, "--requirepass", password)
	rdb := redis.NewClient(&redis.Options{Addr: addr, Password: password})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	languages := filepath.Join(t.TempDir(), "languages.yaml")
	require.NoError(t, os.WriteFile(languages, fmt.Appendf(nil, "bash: {image: %q}\n", image), 0o644))

	args := append(composeRun(t, addr, password), "--volume", languages+":/languages.yaml:ro", "--env", "SANDLOOP_LANGUAGES_FILE=/languages.yaml", workerImage)
	workers := []string{dockerCLI(t, args...), dockerCLI(t, args...)}
	t.Cleanup(func() { dockerCLI(t, append([]string{"rm", "--force"}, workers...)...) })

	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, 2*patience))
	defer cancel()
	require.Eventually(t, func() bool {
		stats, err := client.Stats(ctx)
		return err == nil && len(stats.Workers) == 2
	}, testenv.Scale(t, patience), 50*time.Millisecond, "two workers did not start")
	ids := make([]string, 8)
	for i := range ids {
		submitted, err := client.Submit(ctx, jobs.Job{Program: sandbox.Program{Language: "bash", Source: fmt.Appendf(nil, "sleep 1; echo $((%d*7))", i)}})
		require.NoError(t, err)
		ids[i] = submitted.ID
	}
	ran := map[string]bool{}
	for i, id := range ids {
		record, err := client.Await(ctx, id)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d\n", i*7), string(record.Result.Stdout.Data), record.Result.Message)
		for _, attempt := range record.Attempts {
			ran[attempt.Worker] = true
		}
	}
	require.Len(t, ran, 2, "both workers had a part in it")

	installation, err := rdb.Get(ctx, "sandloop:installation").Result()
	require.NoError(t, err)
	for _, worker := range workers {
		dockerCLI(t, "stop", worker)
		require.Equal(t, "0", dockerCLI(t, "inspect", "--format", "{{.State.ExitCode}}", worker))
	}
	requireNoContainers(t, installation)
}
