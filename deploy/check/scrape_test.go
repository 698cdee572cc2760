package check

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// scrapeFile is what a file of scrape_config_files may hold, as far as ours does. promtool checks prometheus.yml itself, but
// Debian's is built without Kubernetes.
type scrapeFile struct {
	ScrapeConfigs []struct {
		JobName             string `yaml:"job_name"`
		KubernetesSDConfigs []struct {
			Role       string `yaml:"role"`
			Namespaces struct {
				Names []string `yaml:"names"`
			} `yaml:"namespaces"`
		} `yaml:"kubernetes_sd_configs"`
		RelabelConfigs []relabel.Config `yaml:"relabel_configs"`
	} `yaml:"scrape_configs"`
}

func TestPrometheusFindsThePodsOfTheWorkers(t *testing.T) {
	t.Parallel()
	var file scrapeFile
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, "../prometheus/kubernetes.yml")))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	require.Len(t, file.ScrapeConfigs, 1)
	scrape := file.ScrapeConfigs[0]
	require.True(t, strings.HasPrefix(scrape.JobName, "sandloop"), "the alerts want the name to begin so")

	o := kubernetes(t)
	pod := o.worker.Spec.Template
	require.Equal(t, []string{o.worker.Namespace}, scrape.KubernetesSDConfigs[0].Namespaces.Names)
	found := map[string]string{
		"__meta_kubernetes_namespace": o.worker.Namespace, "__meta_kubernetes_pod_name": "worker-1",
		"__meta_kubernetes_pod_container_port_name": container(t, pod, "worker").Ports[0].Name,
	}
	for name, value := range pod.Annotations {
		found["__meta_kubernetes_pod_annotation_"+strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(name)] = value
	}
	for _, rule := range scrape.RelabelConfigs {
		require.NoError(t, rule.Validate(model.UTF8Validation))
		require.Len(t, rule.SourceLabels, 1)
		value, there := found[string(rule.SourceLabels[0])]
		require.True(t, there, "a worker's pod has no %s", rule.SourceLabels[0])
		if rule.Action == relabel.Keep {
			require.True(t, rule.Regex.MatchString(value), "%s=%s is not kept", rule.SourceLabels[0], value)
			continue
		}
		require.Contains(t, ofScrape, rule.TargetLabel)
	}
}
