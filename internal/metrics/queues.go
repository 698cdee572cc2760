package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandloop/sandloop/internal/jobs"
)

// queues tells what every worker of the installation tells alike.
func queues(stats func(context.Context) (jobs.Stats, error)) prometheus.Collector {
	up := gauge("sandloop_redis_up", "Whether the queues could be read for this scrape.")
	number := gauge("sandloop_queue_jobs", "Jobs of the whole installation. The same from every worker, so take the maximum.", "queue", "state")
	oldest := gauge("sandloop_queue_oldest_seconds", "For how long the first of the waiting jobs has waited, 0 if none does. The same from every worker.", "queue")
	size := gauge("sandloop_queue_bytes", "Size of the waiting jobs. The same from every worker.", "queue")
	tenants := gauge("sandloop_queue_tenants", "Tenants with waiting jobs. The same from every worker.", "queue")
	workers := gauge("sandloop_workers", "Workers of the whole installation that live. The same from every worker, so take the maximum.")
	read := func(tell tell) {
		now, err := stats(context.Background())
		if err != nil {
			tell(up, 0)
			return
		}
		tell(up, 1)
		tell(workers, float64(len(now.Workers)))
		for _, q := range now.Queues {
			queue := string(q.Queue)
			tell(number, float64(q.Pending), queue, "waiting")
			tell(number, float64(q.Running), queue, "running")
			tell(number, float64(q.Retry), queue, "retry")
			tell(number, float64(q.Dead), queue, "dead")
			tell(oldest, q.OldestSeconds, queue)
			tell(size, float64(q.Bytes), queue)
			tell(tenants, float64(q.Tenants), queue)
		}
	}
	return &collector{[]metric{up, number, oldest, size, tenants, workers}, read}
}
