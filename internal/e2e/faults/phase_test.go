//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// phase is where jobs are when the fault comes.
type phase string

const (
	// queued: every slot has a job that runs, and three more wait.
	queued phase = "queued"
	// starting: a job is the victim's and its container is being made; there are no warm ones.
	starting phase = "starting"
	// running: every job has printed its first line.
	running phase = "running"
	// writing: every job has ended, and its result is on its way: the victim's have not reached Redis, and the answers to the
	// other worker's have not come back.
	writing phase = "writing"
)

var phases = []phase{queued, starting, running, writing}

// slots is how many jobs the two workers run at once.
const slots = 4

// program prints a line at its start and one at its end that only this run of it can print.
const program = `read -r run </proc/sys/kernel/random/uuid
echo "start $run"
sleep %g
echo "end $run"
`

// finishWords are in the command that stores a result, and in no other that a worker sends while all goes well: the
// record of the attempt.
const finishWords = `{"number":`

func (c *cell) bring() {
	switch c.phase {
	case queued:
		c.submit(slots, 5)
		c.awaitLines()
		if c.fault.losesWrites { // what runs must not be forgotten, too
			<-time.After(1200 * time.Millisecond)
		}
		c.submit(3, 0.5)
		for _, job := range c.jobs[slots:] {
			require.Equal(c.t, jobs.Queued, c.status(job.ID).State)
		}
	case starting:
		c.submit(slots, 2)
		c.eventually(func() bool {
			for _, job := range c.jobs {
				if status := c.status(job.ID); status.State == jobs.Running && status.Worker == c.victimID {
					return true
				}
			}
			return false
		}, "the victim has a job")
	case running:
		c.submit(slots, 5)
		c.awaitLines()
	case writing:
		c.victim.Proxy.Hold(finishWords, false)
		c.other.Proxy.Hold(finishWords, true)
		c.submit(slots, 0.3)
		c.eventually(func() bool { return c.victim.Proxy.Held() > 0 && c.victim.Proxy.Held()+c.other.Proxy.Held() >= slots }, "results are on their way")
	}
	if c.fault.client && c.phase != starting {
		c.eventually(func() bool {
			channels, err := c.lab.Truth.PubSubChannels(c.t.Context(), jobs.DefaultPrefix+":done:*").Result()
			return err == nil && len(channels) > 0
		}, "the client waits")
	}
}

// submit hands in jobs that take so many seconds, and has a client await them where the fault is one of clients.
func (c *cell) submit(count int, seconds float64) {
	batch := make([]jobs.Job, count)
	ids := []string{"wait"}
	for i := range batch {
		batch[i] = jobs.Job{
			ID: fmt.Sprintf("job-%d", len(c.jobs)+i), Follow: true,
			Program: sandbox.Program{Language: "bash", Source: fmt.Appendf(nil, program, seconds)},
		}
		ids = append(ids, batch[i].ID)
	}
	_, err := c.lab.Client.SubmitMany(c.t.Context(), batch)
	require.NoError(c.t, err)
	c.jobs = append(c.jobs, batch...)
	if c.fault.client {
		c.waiting = c.lab.StartEnqueue(c.t, ids...)
	}
}

// awaitLines waits until every job has printed its first line.
func (c *cell) awaitLines() {
	for _, job := range c.jobs {
		ctx, cancel := context.WithTimeout(c.t.Context(), testenv.Scale(c.t, time.Minute))
		var printed strings.Builder
		_ = c.lab.Client.Follow(ctx, job.ID, func(output sandbox.Output) {
			if printed.Write(output.Data); strings.Contains(printed.String(), "\n") {
				cancel()
			}
		})
		cancel()
		require.Contains(c.t, printed.String(), "start ", "job %s", job.ID)
	}
}

func (c *cell) status(id string) jobs.Status {
	status, err := c.lab.Jobs.Status(c.t.Context(), id)
	require.NoError(c.t, err)
	return status
}

func (c *cell) eventually(condition func() bool, what string) {
	c.t.Helper()
	require.Eventually(c.t, condition, testenv.Scale(c.t, time.Minute), 10*time.Millisecond, what)
}
