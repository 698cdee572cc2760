package metrics

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// build tells what runs.
func build() prometheus.Collector {
	info := gauge("sandloop_build_info", "What runs, always 1.", "version", "revision", "goversion")
	version, revision := "unknown", "unknown"
	if recorded, ok := debug.ReadBuildInfo(); ok {
		if recorded.Main.Version != "" {
			version = recorded.Main.Version
		}
		for _, setting := range recorded.Settings {
			if setting.Key == "vcs.revision" {
				revision = setting.Value
			}
		}
	}
	return constant(info, version, revision, runtime.Version())
}

// worker tells the id of the worker, as it is in results and on containers.
func worker(id string) prometheus.Collector {
	return constant(gauge("sandloop_worker_info", "The worker's id, always 1.", "worker"), id)
}

func constant(info metric, labels ...string) prometheus.Collector {
	return &collector{[]metric{info}, func(tell tell) { tell(info, 1, labels...) }}
}
