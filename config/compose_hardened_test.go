package config

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// hardenedCompose is docker-compose.yml with deploy/compose/hardened.yml laid over it.
func hardenedCompose(t *testing.T) *types.Project {
	t.Helper()
	project, err := loader.LoadWithContext(context.WithoutCancel(t.Context()), types.ConfigDetails{
		WorkingDir: "..", ConfigFiles: []types.ConfigFile{{Filename: composeFile}, {Filename: "../deploy/compose/hardened.yml"}},
		Environment: map[string]string{"SANDLOOP_REDIS_PASSWORD": "unused", "SANDLOOP_DOCKER_GID": "999"},
	}, loader.WithProfiles([]string{"tools"}))
	require.NoError(t, err)
	return project
}

func TestInTheHardenedComposeFileTheProxyAloneHasDockersSocket(t *testing.T) {
	t.Parallel()
	project := hardenedCompose(t)
	require.ElementsMatch(t, []string{"redis", "worker", "enqueue", "docker-proxy"}, project.ServiceNames())
	for name, service := range project.Services {
		require.Empty(t, service.Ports, name)
		require.True(t, service.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, service.CapDrop, name)
		require.Empty(t, service.CapAdd, name)
		require.False(t, service.Privileged, name)
		require.Contains(t, service.SecurityOpt, "no-new-privileges:true", name)
		hasSocket := slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool { return strings.HasSuffix(v.Source, "docker.sock") })
		require.Equal(t, name == "docker-proxy", hasSocket, name)
		require.Equal(t, name == "docker-proxy", len(service.GroupAdd) > 0, "%s: the group of the socket", name)
	}
	proxy, worker := project.Services["docker-proxy"], project.Services["worker"]
	require.Equal(t, "none", proxy.NetworkMode)
	require.Empty(t, proxy.Networks)
	require.Equal(t, "unix://"+proxy.Command[2], *worker.Environment["SANDLOOP_SANDBOX_DOCKER_HOST"])
	for _, service := range []types.ServiceConfig{proxy, worker} {
		require.True(t, slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Source == "proxy" && v.Target == "/run/sandloop"
		}), service.Name)
	}
}

func TestInTheHardenedComposeFileEachHasItsOwnSecretsAlone(t *testing.T) {
	t.Parallel()
	project := hardenedCompose(t)
	secrets := map[string][]string{
		"redis": {"users.acl"}, "docker-proxy": nil, "worker": {"worker-password", "admin-token", "sign-key", "seal-key"}, "enqueue": {"producer-password", "sign-key", "seal-key"},
	}
	for name, want := range secrets {
		var mounted []string
		for _, v := range project.Services[name].Volumes {
			if file, found := strings.CutPrefix(v.Target, "/run/secrets/"); found {
				mounted = append(mounted, file)
				require.True(t, v.ReadOnly, v.Target)
			}
		}
		require.ElementsMatch(t, want, mounted, name)
		for variable, value := range project.Services[name].Environment {
			for _, secret := range []string{"PASSWORD", "TOKEN", "KEY"} { // Redis' own REDIS_PASSWORD is unused there
				require.False(t, strings.HasPrefix(variable, EnvPrefix) && strings.HasSuffix(variable, secret), "%s: %s", name, variable)
			}
			if strings.HasSuffix(variable, "_FILE") {
				require.Contains(t, want, strings.TrimPrefix(*value, "/run/secrets/"), variable)
			}
			if strings.HasPrefix(variable, EnvPrefix) {
				require.True(t, slices.ContainsFunc(Keys(), func(key string) bool { return EnvName(key) == variable }), variable)
			}
		}
	}
	users, err := os.ReadFile("../deploy/redis/users.acl")
	require.NoError(t, err)
	for _, service := range []string{"worker", "enqueue"} {
		require.Contains(t, string(users), "user "+*project.Services[service].Environment["SANDLOOP_REDIS_USERNAME"]+" on #")
	}
}
