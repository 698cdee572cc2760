package config

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

const composeFile = "../docker-compose.yml"

func loadCompose(t *testing.T, environment map[string]string) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(context.WithoutCancel(t.Context()), types.ConfigDetails{
		WorkingDir: "..", ConfigFiles: []types.ConfigFile{{Filename: composeFile}}, Environment: environment,
	}, loader.WithProfiles([]string{"tools"}))
}

func compose(t *testing.T) *types.Project {
	t.Helper()
	project, err := loadCompose(t, map[string]string{"SANDLOOP_REDIS_PASSWORD": "swordfish", "SANDLOOP_DOCKER_GID": "999"})
	require.NoError(t, err)
	return project
}

func TestTheComposeFileIsWhole(t *testing.T) {
	t.Parallel()
	project := compose(t)
	require.ElementsMatch(t, []string{"redis", "worker", "enqueue"}, project.ServiceNames())
	for name, service := range project.Services {
		require.Empty(t, service.Ports, "%s is reached over the network of the project alone", name)
		require.True(t, service.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, service.CapDrop, name)
		require.Empty(t, service.CapAdd, name)
		require.False(t, service.Privileged, name)
		require.Contains(t, service.SecurityOpt, "no-new-privileges:true", name)
	}
	require.True(t, bool(project.Networks["queue"].Internal))
}

func TestTheComposeFileHasNoPasswordOfItsOwn(t *testing.T) {
	t.Parallel()
	for missing, given := range map[string]map[string]string{
		"SANDLOOP_REDIS_PASSWORD": {"SANDLOOP_DOCKER_GID": "999"},
		"SANDLOOP_DOCKER_GID":     {"SANDLOOP_REDIS_PASSWORD": "swordfish"},
	} {
		_, err := loadCompose(t, given)
		require.ErrorContains(t, err, missing)
	}
}

func TestTheComposeFilesVariablesAreKeys(t *testing.T) {
	t.Parallel()
	var names []string
	for _, key := range Keys() {
		names = append(names, EnvName(key))
	}
	project := compose(t)
	for _, service := range []string{"worker", "enqueue"} {
		for name := range project.Services[service].Environment {
			require.Contains(t, names, name, service)
		}
	}
	require.Equal(t, "redis:6379", *project.Services["worker"].Environment["SANDLOOP_REDIS_ADDR"])
}

func TestWorkersScaleAndHaveTimeToDrain(t *testing.T) {
	t.Parallel()
	worker := compose(t).Services["worker"]
	require.Empty(t, worker.ContainerName, "a fixed name would allow one worker only")
	grace, err := time.ParseDuration(*worker.Environment["SANDLOOP_WORKER_GRACE"])
	require.NoError(t, err)
	require.Greater(t, time.Duration(*worker.StopGracePeriod), 2*grace)
	require.Equal(t, "never", worker.PullPolicy)
	require.Equal(t, []string{"999"}, worker.GroupAdd)
	require.True(t, slices.ContainsFunc(worker.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Target == "/var/run/docker.sock"
	}))
	require.Equal(t, "service_healthy", worker.DependsOn["redis"].Condition)
}

func TestTheComposeFilesWorkersAreAskedWhereTheyListen(t *testing.T) {
	t.Parallel()
	project := compose(t)
	worker := project.Services["worker"]
	require.Equal(t, []string{"CMD", "/bin/worker", "health"}, []string(worker.HealthCheck.Test))
	require.Equal(t, ":9390", *worker.Environment["SANDLOOP_ADMIN_ADDR"], "each has an address of its own")
	require.Empty(t, *worker.Environment["SANDLOOP_ADMIN_TOKEN"], "there is no token but the operator's")
	for name := range project.Services["enqueue"].Environment {
		require.NotContains(t, name, "ADMIN", "a producer is no operator")
	}
}

func TestRedisKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	redis := compose(t).Services["redis"]
	command := strings.Join(redis.Command, " ")
	require.Contains(t, command, "--appendonly yes")
	require.Contains(t, command, "--maxmemory-policy noeviction")
	require.NotContains(t, command, "swordfish", "the password is in no list of processes")
	require.Len(t, redis.Volumes, 1)
	require.Equal(t, "/data", redis.Volumes[0].Target)
	require.NotNil(t, redis.HealthCheck)
}
