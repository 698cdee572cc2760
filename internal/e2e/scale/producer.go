package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Producer says what one process that submits jobs is.
type Producer struct {
	// Redis is an address as jobs.RedisOptions has it.
	Redis string `json:"redis"`
	// Jobs is how many it submits, Chunk how many with each call.
	Jobs  int `json:"jobs"`
	Chunk int `json:"chunk"`
	// Queue and Sleep are those of each job.
	Queue jobs.Queue    `json:"queue"`
	Sleep time.Duration `json:"sleep"`
	// Tenants is the number of tenants that the jobs are shared out to, 1 when 0.
	Tenants int `json:"tenants,omitempty"`
	// Pace is the time from one call to the next; 0 is as fast as it goes.
	Pace time.Duration `json:"pace,omitempty"`
}

// Produced is what a Producer did.
type Produced struct {
	Jobs       int     `json:"jobs"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// Produce waits for a line of stdin, submits the jobs and says, in a line of JSON, how long it took.
func (p Producer) Produce(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: p.Redis})
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("reach redis: %w", err)
	}
	if !bufio.NewScanner(stdin).Scan() {
		return nil // nobody wants it any more
	}
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	began, cpu := time.Now(), cpuSeconds()
	for submitted := 0; submitted < p.Jobs; submitted += p.Chunk {
		<-time.After(time.Until(began.Add(p.Pace * time.Duration(submitted/p.Chunk))))
		if _, err := client.SubmitMany(ctx, p.chunk(submitted)); err != nil {
			return err
		}
	}
	return json.NewEncoder(stdout).Encode(Produced{Jobs: p.Jobs, Seconds: time.Since(began).Seconds(), CPUSeconds: cpuSeconds() - cpu})
}

// chunk makes the jobs from the first on.
func (p Producer) chunk(first int) []jobs.Job {
	chunk := make([]jobs.Job, min(p.Chunk, p.Jobs-first))
	for i := range chunk {
		chunk[i] = jobs.Job{Tenant: fmt.Sprintf("tenant-%d", (first+i)%max(1, p.Tenants)), Queue: p.Queue, Program: Sleep(p.Sleep)}
	}
	return chunk
}
