package top

import (
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Snapshot is what is known of an installation at one moment.
type Snapshot struct {
	At      time.Time `json:"at"`
	Queues  []Queue   `json:"queues"`
	Workers []Worker  `json:"workers"`
}

// Queue is a queue with its tenants.
type Queue struct {
	jobs.QueueStats
	// TakenPerSecond is how many jobs workers took, nil when that is not known.
	TakenPerSecond *float64           `json:"taken_per_second"`
	PerTenant      []jobs.TenantStats `json:"per_tenant"`
}

// Worker is a worker that is alive.
type Worker struct {
	jobs.WorkerInfo
	// FinishedPerSecond is how many results it stored, nil when that is not known.
	FinishedPerSecond *float64 `json:"finished_per_second"`
}

// Slots is how many jobs a worker can run at once.
func (w Worker) Slots() int { return w.WorkerInfo.Slots + w.InteractiveSlots + w.SessionSlots }

// Since fills in the rates since an earlier snapshot. What was not there then, or was counted anew since, has none.
func (s Snapshot) Since(earlier Snapshot) Snapshot {
	seconds := s.At.Sub(earlier.At).Seconds()
	rate := func(before, after int64) *float64 {
		if seconds <= 0 || after < before {
			return nil
		}
		perSecond := float64(after-before) / seconds
		return &perSecond
	}
	queues, workers := map[jobs.Queue]int64{}, map[string]int64{}
	for _, queue := range earlier.Queues {
		queues[queue.Queue] = queue.Taken
	}
	for _, worker := range earlier.Workers {
		workers[worker.ID] = worker.Finished
	}
	rated := Snapshot{At: s.At, Queues: []Queue{}, Workers: []Worker{}} // empty lists in JSON, too
	for _, queue := range s.Queues {
		if before, known := queues[queue.Queue]; known {
			queue.TakenPerSecond = rate(before, queue.Taken)
		}
		rated.Queues = append(rated.Queues, queue)
	}
	for _, worker := range s.Workers {
		if before, known := workers[worker.ID]; known {
			worker.FinishedPerSecond = rate(before, worker.Finished)
		}
		rated.Workers = append(rated.Workers, worker)
	}
	return rated
}
