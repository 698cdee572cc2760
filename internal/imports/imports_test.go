package imports_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/sandloop/sandloop/"

// dependencies lists all that a package is linked with.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+pkg).Output()
	require.NoError(t, err, pkg)
	return strings.Fields(string(out))
}

func TestNobodyLinksWhatItMustNot(t *testing.T) {
	t.Parallel()
	const docker, sdk = module + "internal/sandbox/docker", "github.com/docker/docker/"
	const anthropic, openai = "github.com/anthropics/", "github.com/openai/"
	const terminal, terminals = "charm.land/", "github.com/charmbracelet/" // what only a live view needs
	const otelSDK = "go.opentelemetry.io/otel/sdk/"
	for pkg, forbidden := range map[string][]string{
		"internal/jobs":           {docker, sdk, module + "config", otelSDK},
		"config":                  {docker, sdk, module + "internal/jobs"},
		"cmd/enqueue":             {docker, sdk, module + "internal/reaper"},
		"internal/sandbox/docker": {module + "internal/jobs", "github.com/redis/", "github.com/hibiken/", otelSDK},
		"internal/reaper":         {module + "internal/jobs", docker, "github.com/redis/"},
		"internal/workspace":      {docker, sdk, module + "internal/jobs", "github.com/hibiken/"},
		"internal/live":           {docker, sdk, module + "internal/jobs", "github.com/hibiken/"},
		"internal/sessions":       {docker, sdk, module + "config"},
		"internal/explain":        {docker, sdk, module + "internal/jobs", "github.com/hibiken/"},
		"internal/agent":          {docker, sdk, module + "internal/jobs", "github.com/redis/", anthropic, openai},
		"internal/agent/toolbox":  {docker, sdk, module + "internal/reaper", anthropic, openai, otelSDK},
		"internal/tracing":        {docker, sdk, module + "internal/jobs", "github.com/redis/", "github.com/hibiken/"},
		"internal/tracing/spans":  {docker, sdk, module + "internal/jobs", module + "config", otelSDK},
		"internal/agent/mcp":      {docker, sdk, module + "internal/jobs", "github.com/redis/"},
		"internal/top":            {docker, sdk, module + "internal/reaper"},
		"cmd/agent":               {docker, sdk, module + "internal/reaper", terminal, terminals},
		"cmd/worker":              {anthropic, openai, terminal, terminals},
		"internal/grade/judge":    {docker, sdk, module + "internal/jobs", "github.com/redis/", "github.com/hibiken/"},
	} {
		for _, dependency := range dependencies(t, pkg) {
			for _, prefix := range forbidden {
				require.False(t, strings.HasPrefix(dependency+"/", strings.TrimSuffix(prefix, "/")+"/"), "%s links %s", pkg, dependency)
			}
		}
	}
}

// What judges a submission can be used, and tested, without whatever runs it and brings it.
func TestGradingKnowsProgramsAndResultsAlone(t *testing.T) {
	t.Parallel()
	const grade, sandbox = module + "internal/grade", module + "internal/sandbox"
	for pkg, allowed := range map[string][]string{
		"internal/grade":        {grade, sandbox},
		"internal/grade/report": {grade, grade + "/report", sandbox},
		"internal/grade/judge":  {grade, grade + "/judge", sandbox},
	} {
		for _, dependency := range dependencies(t, pkg) {
			require.False(t, strings.HasPrefix(dependency, module) && !slices.Contains(allowed, dependency), "%s links %s", pkg, dependency)
		}
	}
}

func TestInsideTheSandboxIsTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	ours := []string{"internal/sandbox", "internal/sandbox/wire", "internal/sandbox/supervisor", "cmd/sandbox-init"}
	for _, dependency := range dependencies(t, "cmd/sandbox-init") {
		first, _, _ := strings.Cut(dependency, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(dependency, "vendor/") {
			continue // the standard library
		}
		require.True(t, slices.Contains(ours, strings.TrimPrefix(dependency, module)), dependency)
	}
	for _, dependency := range dependencies(t, "internal/sandbox") {
		require.False(t, strings.HasPrefix(dependency, module) && dependency != module+"internal/sandbox", dependency)
	}
}

// Sessions speak the language of jobs, which are linked with asynq, and must not know it themselves.
func TestSessionsDoNotKnowTheQueue(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{join .Imports \"\\n\"}}", module+"internal/sessions").Output()
	require.NoError(t, err)
	imports := strings.Fields(string(out))
	require.Contains(t, imports, module+"internal/jobs")
	for _, direct := range imports {
		require.NotContains(t, direct, "asynq")
		require.NotContains(t, direct, "redis")
	}
}
