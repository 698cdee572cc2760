package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/docker/cli/cli/compose/loader"
	"github.com/docker/cli/cli/compose/types"
	"github.com/stretchr/testify/require"
)

const stackFile = "../swarm/stack.yml"

// stack reads a file as docker stack deploy does, with all that its client would warn of.
func stack(source []byte, environment map[string]string) (config *types.Config, ignored []string, err error) {
	tree, err := loader.ParseYAML(source)
	if err != nil {
		return nil, nil, err
	}
	config, err = loader.Load(types.ConfigDetails{
		WorkingDir: filepath.Dir(stackFile), Environment: environment,
		ConfigFiles: []types.ConfigFile{{Filename: stackFile, Config: tree}},
	})
	ignored = loader.GetUnsupportedProperties(tree)
	for property := range loader.GetDeprecatedProperties(tree) {
		ignored = append(ignored, property)
	}
	return config, ignored, err
}

func stackEnvironment() map[string]string {
	return map[string]string{"SANDLOOP_WORKER_IMAGE": "registry.example.com/sandloop/worker:0.1.0", "SANDLOOP_DOCKER_GID": "998"}
}

func swarm(t *testing.T) map[string]types.ServiceConfig {
	t.Helper()
	config, ignored, err := stack(read(t, stackFile), stackEnvironment())
	require.NoError(t, err)
	require.Empty(t, ignored, "Swarm ignores these")
	services := map[string]types.ServiceConfig{}
	for _, service := range config.Services {
		services[service.Name] = service
	}
	require.Equal(t, []string{"redis", "worker"}, sortedKeys(services))
	for name, network := range config.Networks {
		require.True(t, network.Internal && network.Attachable, name)
		require.Equal(t, "overlay", network.Driver, name)
	}
	require.Equal(t, []string{"admin_token", "redis_password"}, sortedKeys(config.Secrets))
	for name, secret := range config.Secrets {
		require.True(t, secret.External.External, name)
		require.Equal(t, "sandloop_"+name, secret.Name, "as the first lines of the file make it")
	}
	return services
}

func TestSwarmKnowsEveryFieldOfTheStack(t *testing.T) {
	t.Parallel()
	for name, service := range swarm(t) {
		require.Regexp(t, pinned, service.Image, name)
		require.Empty(t, service.Ports, "%s is reached over the stack's network alone", name)
		require.True(t, service.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, service.CapDrop, name)
		require.NotNil(t, service.HealthCheck, name)
		require.Len(t, service.Deploy.Placement.Constraints, 1, name)
		require.Equal(t, "node.labels.sandloop."+name+" == true", service.Deploy.Placement.Constraints[0])
		require.Equal(t, "stop-first", service.Deploy.UpdateConfig.Order, name)
		require.Positive(t, service.Deploy.Resources.Limits.MemoryBytes, name)
		require.Equal(t, "any", service.Deploy.RestartPolicy.Condition, name)
	}
}

func TestWhatSwarmWouldRefuseOrIgnoreIsFound(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{
		"unknown":    "services: {a: {image: a, deploy: {replica: 2}}}",
		"type":       "services: {a: {image: a, deploy: {replicas: two}}}",
		"of compose": "services: {a: {image: a, group_add: [1]}}",
		"ignored":    "services: {a: {image: a, security_opt: [no-new-privileges:true]}}",
	} {
		_, ignored, err := stack([]byte("version: \"3.9\"\n"+wrong), nil)
		require.True(t, err != nil || len(ignored) > 0, name)
	}
	for variable := range stackEnvironment() {
		without := stackEnvironment()
		delete(without, variable)
		_, _, err := stack(read(t, stackFile), without)
		require.ErrorContains(t, err, variable)
	}
}

func TestASwarmsWorkersReachTheirSecretsAndTheSocketAndDrain(t *testing.T) {
	t.Parallel()
	worker := swarm(t)["worker"]
	var targets []string
	for _, secret := range worker.Secrets {
		targets = append(targets, "/run/secrets/"+secret.Source)
	}
	for _, variable := range []string{"SANDLOOP_REDIS_PASSWORD_FILE", "SANDLOOP_ADMIN_TOKEN_FILE"} {
		require.Contains(t, targets, *worker.Environment[variable])
	}
	require.Equal(t, "65532:998", worker.User)
	require.Equal(t, "/var/run/docker.sock", worker.Volumes[0].Target)
	require.Equal(t, []string{"CMD", "/bin/worker", "health"}, []string(worker.HealthCheck.Test))
	require.Equal(t, "redis:6379", *worker.Environment["SANDLOOP_REDIS_ADDR"])

	grace, err := time.ParseDuration(*worker.Environment["SANDLOOP_WORKER_GRACE"])
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Duration(*worker.StopGracePeriod), 2*grace+30*time.Second)
	// As many workers as there are nodes at most, and each may take what its machine has.
	require.Equal(t, uint64(1), worker.Deploy.Placement.MaxReplicas)
	require.Equal(t, "0", *worker.Environment["SANDLOOP_WORKER_CONCURRENCY"])
}

func TestASwarmsRedisIsOneAndKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	redis := swarm(t)["redis"]
	script := redis.Command[len(redis.Command)-1]
	require.Contains(t, script, "--appendonly yes")
	require.Contains(t, script, "--maxmemory-policy noeviction")
	most := regexp.MustCompile(`--maxmemory (\d+)gb`).FindStringSubmatch(script)
	require.Len(t, most, 2)
	require.Equal(t, fmt.Sprintf("%d", int64(redis.Deploy.Resources.Limits.MemoryBytes)>>31), most[1], "half of the limit, for a rewrite of the AOF")
	require.Equal(t, uint64(1), *redis.Deploy.Replicas)
	require.Equal(t, "/data", redis.Volumes[0].Target)
	require.Contains(t, script, "--dir /data")
	require.Equal(t, "redis_password", redis.Secrets[0].Source)
	require.Contains(t, script, "/run/secrets/redis_password")
}
