package metrics

import (
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// ContainerStarted counts the start of a container.
func (m *Metrics) ContainerStarted(s docker.Start) {
	start := "cold"
	if s.Warm {
		start = "warm"
	}
	if s.Err != nil {
		m.startFailures.WithLabelValues(start).Inc()
		return
	}
	m.started.WithLabelValues(start).Observe(s.Took.Seconds())
}

// Swept counts a sweep of the reaper, and what it removed also when it did not end well.
func (m *Metrics) Swept(report reaper.Report, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.sweeps.WithLabelValues(result).Inc()
	for _, removed := range report.Removed {
		kind := "orphaned"
		if removed.Reason == "expired" {
			kind = "expired"
		}
		m.reaped.WithLabelValues(kind).Inc()
	}
	m.reaped.WithLabelValues("volume").Add(float64(len(report.Volumes)))
}
