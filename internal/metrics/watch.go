package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// WatchWorker tells what the worker counts by itself. It can be called once.
func (m *Metrics) WatchWorker(w *jobs.Worker) {
	draining := gauge("sandloop_worker_draining", "1 when the worker was told to stop.")
	paused := gauge("sandloop_worker_paused", "1 while the worker takes no jobs because it could not run them.")
	slots := gauge("sandloop_slots", "Slots of the worker: shared by all queues, for interactive jobs alone, for jobs of live sessions.", "kind")
	busy := gauge("sandloop_slots_busy", "Slots that have a job.", "kind")
	counts := w.Counters()
	numbers := []struct {
		metric
		*atomic.Int64
	}{
		{counter("sandloop_attempts_failed_total", "Attempts that sandloop or Docker failed, not the program."), &counts.Failed},
		{counter("sandloop_results_dropped_total", "Results that were not stored because another attempt owned the job."), &counts.Dropped},
		{counter("sandloop_jobs_recovered_total", "Jobs of lost workers that were put back on their queues."), &counts.Recovered},
		{counter("sandloop_jobs_requeued_total", "Jobs that were given back when this worker stopped."), &counts.Requeued},
		{counter("sandloop_jobs_forwarded_total", "Jobs that were handed to the worker that holds their session."), &counts.Forwarded},
		{counter("sandloop_jobs_put_off_total", "Jobs whose session was not free."), &counts.PutOff},
		{counter("sandloop_workers_lost_total", "Lost workers whose jobs this one put back."), &counts.Lost},
		{counter("sandloop_heartbeats_late_total", "Heartbeats that came 1.5 s or more after the one before; one is due each second."), &counts.HeartbeatsLate},
		{counter("sandloop_heartbeats_failed_total", "Heartbeats that Redis did not take."), &counts.HeartbeatsFailed},
	}
	all := []metric{draining, paused, slots, busy}
	for _, number := range numbers {
		all = append(all, number.metric)
	}
	m.registry.MustRegister(&collector{all, func(tell tell) {
		tell(draining, truth(w.Draining()))
		tell(paused, truth(w.Paused()))
		for _, use := range w.Slots() {
			tell(slots, float64(use.Slots), use.Kind)
			tell(busy, float64(use.Busy), use.Kind)
		}
		for _, number := range numbers {
			tell(number.metric, float64(number.Load()))
		}
	}})
}

// WatchContainers tells what a runner counts by itself. It can be called once.
func (m *Metrics) WatchContainers(stats func() docker.Stats) {
	containers := gauge("sandloop_containers", "Containers that exist now: they wait for any job, for the next of their batch, or are busy.", "state")
	taken := counter("sandloop_containers_taken_total", "How jobs got their container.", "source")
	adopted := counter("sandloop_containers_adopted_total", "Warm containers whose limits were changed for their job.")
	stale := counter("sandloop_containers_stale_total", "Warm containers that were dead or unfit when they were taken.")
	m.registry.MustRegister(&collector{[]metric{containers, taken, adopted, stale}, func(tell tell) {
		now := stats()
		tell(containers, float64(now.Warm), "warm")
		tell(containers, float64(now.Kept), "kept")
		tell(containers, float64(max(0, now.Open-now.Warm-now.Kept)), "busy") // not all are counted at once
		tell(taken, float64(now.WarmHits), "warm")
		tell(taken, float64(now.ColdStarts), "cold")
		tell(taken, float64(now.Reused), "reused")
		tell(adopted, float64(now.Adopted))
		tell(stale, float64(now.Stale))
	}})
}

// WatchInterpreters tells how many live interpreters there are, of how many that there may be. It can be called once.
func (m *Metrics) WatchInterpreters(held func() int, limit int) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sandloop_interpreters", Help: "Live interpreters of sessions, also those that start.",
		}, func() float64 { return float64(held()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sandloop_interpreters_limit", Help: "The most live interpreters that there may be.",
		}, func() float64 { return float64(limit) }),
	)
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}
