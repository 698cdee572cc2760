package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
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
	require.Contains(t, string(read(t, stackFile)), `docker secret create "sandloop-${file##*/}" "$file"`)
	for name, secret := range config.Secrets {
		require.True(t, secret.External.External, name)
		require.Equal(t, "sandloop-"+name, secret.Name, "as the first lines of the file make it")
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
	for variable, file := range map[string]string{
		"SANDLOOP_REDIS_PASSWORD_FILE": "worker-password", "SANDLOOP_ADMIN_TOKEN_FILE": "admin-token",
		"SANDLOOP_JOBS_VERIFY_KEY_FILE": "sign-key", "SANDLOOP_JOBS_SEAL_KEY_FILE": "seal-key",
	} {
		require.Equal(t, "/run/secrets/"+file, *worker.Environment[variable], variable)
	}
	require.Equal(t, "sandloop-worker", *worker.Environment["SANDLOOP_REDIS_USERNAME"])
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
	script := strings.Join(redis.Command, " ")
	require.Contains(t, script, "--appendonly yes")
	require.Contains(t, script, "--maxmemory-policy noeviction")
	most := regexp.MustCompile(`--maxmemory (\d+)gb`).FindStringSubmatch(script)
	require.Len(t, most, 2)
	require.Equal(t, fmt.Sprintf("%d", int64(redis.Deploy.Resources.Limits.MemoryBytes)>>31), most[1], "half of the limit, for a rewrite of the AOF")
	require.Equal(t, uint64(1), *redis.Deploy.Replicas)
	require.Equal(t, "/data", redis.Volumes[0].Target)
	require.Contains(t, script, "--dir /data")
}

func TestEachServiceOfASwarmHasTheSecretsThatItNeedsAndNoOthers(t *testing.T) {
	t.Parallel()
	made, _ := secretsOf(t, t.TempDir())
	for name, want := range map[string]map[string]bool{"redis": set("users.acl"), "worker": set("worker-password", "admin-token", "sign-key", "seal-key")} {
		service := swarm(t)[name]
		has := map[string]bool{}
		for _, secret := range service.Secrets {
			require.Contains(t, made, secret.Source, name)
			require.Contains(t, []string{"", secret.Source}, secret.Target, name)
			has[secret.Source] = true
			if name == "worker" { // a key that others can read is refused
				require.Equal(t, uint32(0o400), *secret.Mode, secret.Source)
				require.True(t, strings.HasPrefix(service.User, secret.UID+":"), secret.Source)
			}
		}
		require.Equal(t, want, has, name)
		for variable := range service.Environment {
			for _, secret := range []string{"PASSWORD", "TOKEN", "KEY"} {
				require.False(t, strings.HasSuffix(variable, secret), "%s: %s is in every dump of the environment", name, variable)
			}
		}
	}
}

func TestASwarmsRedisHasTheUsersAndNoOtherPassword(t *testing.T) {
	t.Parallel()
	redis := swarm(t)["redis"]
	require.Equal(t, []string{"redis-server", "--aclfile", "/run/secrets/users.acl"}, []string(redis.Command)[:3])
	for _, option := range []string{"--requirepass", "--user", "--masterauth"} {
		require.NotContains(t, redis.Command, option)
	}
	require.Empty(t, redis.Environment)
	require.Len(t, redis.HealthCheck.Test, 2)
	require.True(t, strings.HasPrefix(redis.HealthCheck.Test[1], "redis-cli ping | grep -q NOAUTH"), "a probe has no password")
}
