package check

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// metric is a row of docs/metrics.md. A test of internal/metrics holds that page to what a worker exports.
type metric struct {
	kind   string
	labels map[string][]string // the values of those that have a list
}

var row = regexp.MustCompile("^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\|([^|]*)\\| .+ \\|$")

// metrics are those of a worker by name, with the series that histograms have, and the few of others that we use.
func metrics(t *testing.T) map[string]metric {
	t.Helper()
	none := map[string][]string{}
	known := map[string]metric{
		"up": {"gauge", none}, "go_goroutines": {"gauge", none},
		"process_start_time_seconds": {"gauge", none}, "process_cpu_seconds_total": {"counter", none},
		"process_resident_memory_bytes": {"gauge", none}, "process_open_fds": {"gauge", none},
	}
	for _, line := range strings.Split(string(read(t, "../../docs/metrics.md")), "\n") {
		match := row.FindStringSubmatch(line)
		if match == nil {
			require.NotContains(t, line, "| `", "a row that cannot be read")
			continue
		}
		m := metric{match[2], labelValues(match[3])}
		if m.kind != "histogram" {
			known[match[1]] = m
			continue
		}
		for _, suffix := range []string{"_sum", "_count"} {
			known[match[1]+suffix] = metric{"counter", m.labels}
		}
		withLE := map[string][]string{"le": nil}
		for label, values := range m.labels {
			withLE[label] = values
		}
		known[match[1]+"_bucket"] = metric{"counter", withLE}
	}
	require.Contains(t, known, "sandloop_queue_jobs")
	return known
}

// labelValues reads "queue, state: waiting, running": what follows a colon are values of the last label.
func labelValues(text string) map[string][]string {
	labels := map[string][]string{}
	before, list, hasList := strings.Cut(text, ":")
	names := strings.FieldsFunc(before, func(r rune) bool { return r == ',' || r == ' ' })
	for i, name := range names {
		labels[name] = nil
		switch {
		case hasList && i == len(names)-1:
			labels[name] = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		case name == "queue":
			labels[name] = []string{"interactive", "default", "batch"}
		}
	}
	return labels
}

func TestThePageOfMetricsIsRead(t *testing.T) {
	t.Parallel()
	known := metrics(t)
	require.Equal(t, metric{"gauge", map[string][]string{
		"queue": {"interactive", "default", "batch"}, "state": {"waiting", "running", "retry", "dead"},
	}}, known["sandloop_queue_jobs"])
	require.Equal(t, metric{"counter", map[string][]string{"start": {"warm", "cold"}, "le": nil}}, known["sandloop_container_start_seconds_bucket"])
	require.NotContains(t, known, "sandloop_job_run_seconds")
}

func TestNoMetricIsExportedInVain(t *testing.T) {
	t.Parallel()
	text := string(read(t, "../grafana/sandloop.json")) + string(read(t, "../prometheus/alerts.yml"))
	var unused []string
	for name := range metrics(t) {
		if base := strings.TrimSuffix(name, "_bucket"); !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_count") && !strings.Contains(text, base) {
			unused = append(unused, base)
		}
	}
	slices.Sort(unused)
	require.Empty(t, unused, "neither the dashboard nor an alert shows these")
}
