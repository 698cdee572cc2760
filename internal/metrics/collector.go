package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is one whose value somebody else knows.
type metric struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

// tell gives the value of a metric and those of its labels.
type tell func(m metric, value float64, labels ...string)

// collector tells metrics that belong together, all of them read at the same moment.
type collector struct {
	metrics []metric
	read    func(tell)
}

// Describe tells which metrics there are.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		to <- m.Desc
	}
}

// Collect reads them.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	c.read(func(m metric, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(m.Desc, m.kind, value, labels...)
	})
}
