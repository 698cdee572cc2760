//go:build faults

package faults_test

import (
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// fault is something that breaks.
type fault struct {
	name string
	// outage is how long it lasts, and short how long in the short form if that is not 0.
	outage, short time.Duration
	// inject breaks, lift mends; after looks at what is particular to the fault.
	inject, lift func(*cell) error
	after        func(*cell)
	// words are what a log says of it, one of them; silent are phases in which no worker can notice.
	words  []string
	silent map[phase]bool
	// typical is the phase in which the short form has it.
	typical phase
	// mayGiveUp tells that the machine may be broken for so long that jobs are given up.
	mayGiveUp bool
	// losesWrites tells that Redis may forget what it has confirmed.
	losesWrites bool
	// hitsWorker, client and stepsClock tell whom it hits.
	hitsWorker, client, stepsClock bool
	// cold has no warm containers in any phase.
	cold bool
}

// pool is how many warm containers a worker has.
func (f fault) pool(p phase) int {
	if p == starting || f.cold {
		return 0
	}
	return 1
}

func everyFault() []fault {
	return append(append(append(workerFaults(), redisFaults()...), dockerFaults()...), otherFaults()...)
}

func workerFaults() []fault {
	return []fault{
		{
			name: "worker SIGKILL", typical: running, hitsWorker: true, words: []string{"worker was lost", "job recovered"},
			inject: func(c *cell) error { return c.victim.End(syscall.SIGKILL) },
		},
		{
			name: "worker SIGTERM", typical: running, hitsWorker: true, words: []string{"worker stops"},
			inject: func(c *cell) error { return c.victim.Signal(syscall.SIGTERM) },
			after:  func(c *cell) { require.Zero(c.t, c.victim.ExitCode(), "a worker that stops ends well") },
		},
		{
			name: "worker SIGSTOP", typical: running, outage: 60 * time.Second, short: 15 * time.Second, hitsWorker: true,
			words:  []string{"worker was lost", "job recovered"},
			inject: func(c *cell) error { return c.victim.Signal(syscall.SIGSTOP) },
			lift: func(c *cell) error {
				c.requireFrozenIsReplaced()
				return c.victim.Signal(syscall.SIGCONT)
			},
		},
	}
}

// requireFrozenIsReplaced checks, while the victim is still frozen, that no container of an attempt is there any more whose
// job somebody else has taken over.
func (c *cell) requireFrozenIsReplaced() {
	var left string
	c.eventually(func() bool {
		left = ""
		containers, err := c.lab.Containers()
		for _, job := range c.jobs {
			status := c.status(job.ID)
			for _, about := range containers {
				name, _, _ := strings.Cut(about, " ")
				if attempt, isOf := labels.AttemptOf(name, job.ID); isOf && attempt < status.Attempt {
					left += about + "\n"
				}
			}
		}
		return err == nil && left == ""
	}, "containers of older attempts are gone")
}

func redisFaults() []fault {
	restart := func(c *cell) error { return c.lab.Redis.Start() }
	words := []string{"redis does not answer", "redis does not do its part", "heartbeat not written"}
	return []fault{
		{
			name: "redis SIGKILL", typical: writing, outage: 3 * time.Second, words: words, lift: restart,
			inject: func(c *cell) error { return c.lab.Redis.End(syscall.SIGKILL) },
		},
		{
			name: "redis loses its last second", typical: running, outage: 4 * time.Second, words: words, losesWrites: true, lift: restart,
			inject: func(c *cell) error { return c.lab.Redis.EndLosing(time.Second) },
		},
		{
			name: "redis unreachable", typical: running, outage: 45 * time.Second, short: 12 * time.Second, words: words,
			inject: func(c *cell) error {
				c.victim.Proxy.Stall()
				c.other.Proxy.Cut()
				c.lab.Proxy.Stall()
				return nil
			},
			lift: func(c *cell) error {
				c.lab.Proxy.Heal() // the workers' own are healed after every fault
				return nil
			},
		},
		{
			name: "redis out of memory", typical: running, outage: 15 * time.Second, short: 10 * time.Second, words: []string{"OOM"},
			inject: func(c *cell) error { return c.lab.Redis.Fill() },
			lift:   func(c *cell) error { return c.lab.Redis.Empty() },
		},
	}
}

func dockerFaults() []fault {
	words := []string{"attempt failed", "no container can be started"}
	start := func(c *cell) error { return c.lab.Daemon.Start() }
	return []fault{
		{
			name: "dockerd restart", typical: running, words: words, silent: map[phase]bool{writing: true},
			inject: func(c *cell) error { return c.lab.Daemon.Restart() },
		},
		{
			name: "dockerd stopped", typical: queued, outage: 30 * time.Second, short: 12 * time.Second, words: words, silent: map[phase]bool{writing: true},
			inject: func(c *cell) error { return c.lab.Daemon.Stop() }, lift: start,
		},
		{
			name: "container removed", typical: running, words: words, silent: map[phase]bool{writing: true},
			inject: func(c *cell) error { return c.removeContainers() },
		},
		{
			name: "image removed", typical: starting, outage: 10 * time.Second, words: words, cold: true, mayGiveUp: true,
			silent: map[phase]bool{writing: true},
			inject: func(c *cell) error { return c.lab.Daemon.RemoveImage() },
			lift:   func(c *cell) error { return c.lab.Daemon.RestoreImage() },
		},
		{
			name: "disk full", typical: queued, outage: 15 * time.Second, words: words, cold: true, mayGiveUp: true,
			silent: map[phase]bool{running: true, writing: true}, // what runs writes nothing to the disk
			inject: func(c *cell) error { return c.lab.Daemon.FillDisk() },
			lift:   func(c *cell) error { return c.lab.Daemon.EmptyDisk() },
		},
	}
}

// removeContainers removes every container of a job, as somebody does who tidies up. When none is there yet it waits for one.
func (c *cell) removeContainers() error {
	var ids []string
	for deadline := time.Now().Add(10 * time.Second); len(ids) == 0 && time.Now().Before(deadline); {
		out, err := c.lab.Daemon.Docker("ps", "--all", "--quiet", "--filter", "label="+labels.Installation+"="+c.lab.Installation(), "--filter", "name=sandloop-job-")
		if err != nil {
			return err
		}
		if ids = strings.Fields(out); c.phase == writing {
			break // they may all be gone
		}
	}
	for _, id := range ids {
		if _, err := c.lab.Daemon.Docker("rm", "--force", id); err != nil && !strings.Contains(err.Error(), "No such") && !strings.Contains(err.Error(), "already in progress") {
			return err
		}
	}
	return nil
}

func otherFaults() []fault {
	return []fault{
		{
			name: "clock step of a worker", typical: running, outage: 12 * time.Second, stepsClock: true, silent: everyPhase,
			inject: func(c *cell) error { return c.victim.StepClock(time.Hour) },
			lift:   func(c *cell) error { return c.victim.StepClock(-time.Hour) },
		},
		{
			name: "clock step of redis", typical: running, outage: 12 * time.Second, silent: everyPhase,
			inject: func(c *cell) error { return c.lab.Redis.StepClock(time.Hour) },
			lift:   func(c *cell) error { return c.lab.Redis.StepClock(-time.Hour) },
		},
		{
			name: "client SIGKILL", typical: running, client: true, silent: everyPhase,
			inject: func(c *cell) error { return c.waiting.End(syscall.SIGKILL) },
			after:  (*cell).requireAnotherClientLearns,
		},
	}
}

// everyPhase is for what is not the workers' business to notice: they measure nothing by the time of day, and know no clients.
var everyPhase = map[phase]bool{queued: true, starting: true, running: true, writing: true}

// requireAnotherClientLearns checks that whoever asks next gets what the client that was killed waited for.
func (c *cell) requireAnotherClientLearns() {
	args := []string{"wait", "--wait-timeout", "1m"}
	for _, job := range c.jobs {
		args = append(args, job.ID)
	}
	client := c.lab.StartEnqueue(c.t, args...)
	require.Zero(c.t, client.ExitCode(), client.Log)
	for _, job := range c.jobs {
		require.Contains(c.t, client.Log.String(), job.ID)
	}
}
