package metrics

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Options are what Metrics need to know. All must be set.
type Options struct {
	// Worker is the worker's id.
	Worker string
	// Languages are those that are told apart; every other one is "other".
	Languages []string
	// Stats reads the queues. It is called at every scrape and must not take long, whatever Redis does.
	Stats func(context.Context) (jobs.Stats, error)
}

// Metrics are those of one worker process. They can be used from many goroutines.
type Metrics struct {
	registry  *prometheus.Registry
	languages []string

	finished      *prometheus.CounterVec
	queued        *prometheus.HistogramVec
	ran           *prometheus.HistogramVec
	slot          *prometheus.HistogramVec
	recovery      prometheus.Observer
	started       *prometheus.HistogramVec
	startFailures *prometheus.CounterVec
	sweeps        *prometheus.CounterVec
	reaped        *prometheus.CounterVec
	redisErrors   *prometheus.CounterVec
}

// The bounds of all histograms, in seconds: 5 ms to 10 min.
var buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// New makes metrics that count nothing yet but the queues, the process and the Go runtime.
func New(options Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), languages: slices.Clone(options.Languages)}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build(), worker(options.Worker), queues(options.Stats),
	)
	m.finished = m.counters("sandloop_jobs_finished_total", "Results that were stored.", "queue", "outcome", "language")
	m.queued = m.histograms("sandloop_job_queue_seconds", "From the submission of a job to the begin of the attempt that ended it.", "queue")
	m.ran = m.histograms("sandloop_job_run_seconds", "Wall time of the program.", "queue")
	m.slot = m.histograms("sandloop_job_slot_seconds", "From the begin of the attempt to the stored result.", "queue")
	for _, queue := range jobs.Queues() { // so that they are there before the first job
		m.queued.WithLabelValues(string(queue))
		m.ran.WithLabelValues(string(queue))
		m.slot.WithLabelValues(string(queue))
	}
	m.recovery = m.histograms("sandloop_recovery_seconds", "From the first missed heartbeat of a lost worker until its jobs were back on their queues.").WithLabelValues()
	m.started = m.histograms("sandloop_container_start_seconds", "From the wish to have a container until it was ready: warm ahead of need, cold while a job waits.", "start")
	m.startFailures = m.counters("sandloop_container_start_failures_total", "Containers that could not be started.", "start")
	for _, start := range []string{"warm", "cold"} {
		m.started.WithLabelValues(start)
		m.startFailures.WithLabelValues(start)
	}
	m.sweeps = m.counters("sandloop_reaper_sweeps_total", "Sweeps that this worker did for its Docker host.", "result")
	m.sweeps.WithLabelValues("ok")
	m.sweeps.WithLabelValues("error")
	m.reaped = m.counters("sandloop_reaper_removed_total", "What the sweeps removed: containers past their expiry or without a living owner, and volumes.", "kind")
	for _, kind := range []string{"expired", "orphaned", "volume"} {
		m.reaped.WithLabelValues(kind)
	}
	m.redisErrors = m.counters("sandloop_redis_errors_total", "Commands to Redis that failed after all tries.", "kind")
	for _, kind := range []string{"connection", "timeout", "reply"} {
		m.redisErrors.WithLabelValues(kind)
	}
	return m
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m *Metrics) histograms(name, help string, labels ...string) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(vec)
	return vec
}

// Gatherer reads all metrics.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// scrapes is how many scrapes are answered at once.
const scrapes = 8

// Handler answers scrapes. What cannot be read is left out and the rest is told.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapes, Timeout: 10 * time.Second,
	})
}
