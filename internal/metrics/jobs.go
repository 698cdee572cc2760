package metrics

import (
	"slices"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// otherLanguage is every language that the installation does not have.
const otherLanguage = "other"

// JobFinished counts a job that has its result.
func (m *Metrics) JobFinished(o jobs.Observation) {
	language := o.Language
	if !slices.Contains(m.languages, language) {
		language = otherLanguage
	}
	queue := string(o.Queue)
	m.finished.WithLabelValues(queue, string(o.Outcome), language).Inc()
	if o.Attempt == 0 {
		return
	}
	m.queued.WithLabelValues(queue).Observe(o.QueueTime.Seconds())
	m.slot.WithLabelValues(queue).Observe(o.SlotTime.Seconds())
	if o.RunTime > 0 {
		m.ran.WithLabelValues(queue).Observe(o.RunTime.Seconds())
	}
}

// WorkerRecovered counts a lost worker whose jobs are back on their queues.
func (m *Metrics) WorkerRecovered(took time.Duration) { m.recovery.Observe(took.Seconds()) }
