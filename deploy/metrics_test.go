package deploy

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/metrics"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// described is "name label,label" of every metric of a worker with everything on.
func described(t *testing.T) (all []string, kinds map[string]string) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nobody is asked
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	worker, err := jobs.NewWorker(jobs.WorkerOptions{Redis: rdb, Runner: noRunner{}})
	require.NoError(t, err)
	m := metrics.New(metrics.Options{Worker: "a", Stats: func(context.Context) (jobs.Stats, error) {
		return jobs.Stats{Queues: []jobs.QueueStats{{Queue: jobs.Default}}}, nil
	}})
	m.WatchRedis(rdb)
	m.WatchWorker(worker)
	m.WatchContainers(func() docker.Stats { return docker.Stats{} })
	m.WatchInterpreters(func() int { return 0 }, 1)

	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		m.Gatherer().(prometheus.Collector).Describe(descriptions)
	}()
	for description := range descriptions {
		match := regexp.MustCompile(`fqName: "(sandloop_\w+)".*variableLabels: \{([^}]*)\}`).FindStringSubmatch(description.String())
		if match == nil {
			require.NotContains(t, description.String(), "sandloop_", "Prometheus writes its descriptions in another way now")
			continue
		}
		all = append(all, strings.TrimSpace(match[1]+" "+match[2]))
	}
	families, err := m.Gatherer().Gather()
	require.NoError(t, err)
	kinds = map[string]string{}
	for _, family := range families {
		kinds[family.GetName()] = strings.ToLower(family.GetType().String())
	}
	slices.Sort(all)
	return all, kinds
}

type noRunner struct{}

func (noRunner) Run(context.Context, sandbox.Program) (sandbox.Result, error) {
	return sandbox.Result{}, nil
}

func (noRunner) KillOlder(context.Context, string, int) error { return nil }

func TestThePageOfMetricsHasWhatAWorkerExports(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	exported, kinds := described(t)
	var written []string
	for _, match := range regexp.MustCompile("(?m)^\\| `(sandloop_\\w+)` \\| (\\w+) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		labels, _, _ := strings.Cut(match[3], ":")
		labels = strings.ReplaceAll(strings.TrimSpace(labels), ", ", ",")
		written = append(written, strings.TrimSpace(match[1]+" "+labels))
		if kind, told := kinds[match[1]]; told {
			require.Equal(t, kind, match[2], match[1])
		}
	}
	slices.Sort(written)
	require.Equal(t, exported, written)
	require.Greater(t, len(kinds), 30)
}
