package config

import (
	"context"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// deploy/check reads the stack as Swarm does. This holds the names of its variables to the keys.
func TestTheStacksVariablesAreKeys(t *testing.T) {
	t.Parallel()
	project, err := loader.LoadWithContext(context.WithoutCancel(t.Context()), types.ConfigDetails{
		WorkingDir: "../deploy/swarm", ConfigFiles: []types.ConfigFile{{Filename: "../deploy/swarm/stack.yml"}},
		Environment: map[string]string{"SANDLOOP_WORKER_IMAGE": "sandloop/worker:0.1.0", "SANDLOOP_DOCKER_GID": "998"},
	}, func(o *loader.Options) { o.SetProjectName("sandloop", true) })
	require.NoError(t, err)
	var names []string
	for _, key := range Keys() {
		names = append(names, EnvName(key))
	}
	for name := range project.Services["worker"].Environment {
		require.Contains(t, names, name)
	}
}
