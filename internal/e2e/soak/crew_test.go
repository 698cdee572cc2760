//go:build soak

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/e2e/soak"
)

// member is a worker of the crew that lives. Its place is taken by another one when it was ended.
type member struct {
	*faults.Worker
	id string
}

// crew are the workers of a run, which only the test's goroutine touches.
type crew struct {
	run     *run
	random  *rand.Rand
	members []*member
}

func (r *run) newCrew(size int) *crew {
	c := &crew{run: r, random: r.random(1), members: make([]*member, size)}
	for i := range c.members {
		c.replace(i)
	}
	return c
}

// replace starts a worker in a place. It can take long while Redis or Docker is away, and is tried until it works.
func (c *crew) replace(place int) {
	r := c.run
	for {
		w := r.lab.StartWorker(r.t, "SANDLOOP_LOG_LEVEL=info", "SANDLOOP_WORKER_CONCURRENCY=2", "SANDLOOP_SANDBOX_POOL_SIZE=1",
			"SANDLOOP_WORKER_GRACE=5s", "SANDLOOP_REAPER_PERIOD=15s", "SANDLOOP_REAPER_GRACE=10s",
			fmt.Sprintf("SANDLOOP_WORKER_MAX_ATTEMPTS=%d", maxAttempts))
		ctx, cancel := context.WithTimeout(r.whole, time.Minute)
		id, err := r.lab.AwaitWorker(ctx, w)
		cancel()
		if err == nil {
			c.members[place] = &member{Worker: w, id: id}
			return
		}
		require.NoError(r.t, r.whole.Err(), "no worker can be started: %v", err)
		require.NoError(r.t, w.End(syscall.SIGKILL))
		pause(r.whole, time.Second)
	}
}

// breakWorkers does something to one worker after the other until ctx ends.
func (r *run) breakWorkers(ctx context.Context, c *crew) {
	for {
		pause(ctx, r.between(c.random))
		if ctx.Err() != nil {
			return
		}
		place := c.random.IntN(len(c.members))
		choices := []func(context.Context, int){c.kill, c.kill, c.stop, c.freeze, c.cutOff, c.killClient, c.killClient}
		choices[c.random.IntN(len(choices))](ctx, place)
	}
}

// between is the pause from one fault to the next.
func (r *run) between(random *rand.Rand) time.Duration {
	return time.Duration(float64(time.Second) * (2 + 18*random.Float64()*r.scale))
}

// lasting is how long a fault lasts: up to what it is given, at a fifth of that at least.
func (r *run) lasting(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(float64(most) * r.scale * (0.2 + 0.8*random.Float64()))
}

// begin notes a fault, end that it is over.
func (r *run) begin(fault soak.Fault) *soak.Fault {
	fault.ID = int(r.faults.Add(1))
	r.record.Add(soak.Event{Kind: soak.FaultBegun, Fault: &fault})
	return &fault
}

func (r *run) end(fault *soak.Fault) { r.record.Add(soak.Event{Kind: soak.FaultLifted, Fault: fault}) }

// lost are the ways in which the others say that a worker is missed.
func lost(id string) []soak.Said { return []soak.Said{{Message: "worker was lost", About: id}} }

func (c *crew) kill(ctx context.Context, place int) {
	m := c.members[place]
	fault := c.run.begin(soak.Fault{Kind: soak.FaultKilled, Target: m.id, Says: lost(m.id)})
	require.NoError(c.run.t, m.End(syscall.SIGKILL))
	pause(ctx, c.run.lasting(c.random, 20*time.Second))
	c.replace(place)
	c.run.end(fault)
}

func (c *crew) stop(ctx context.Context, place int) {
	m := c.members[place]
	fault := c.run.begin(soak.Fault{Kind: "worker SIGTERM", Target: m.id, Says: []soak.Said{{Message: "worker stops"}}})
	require.NoError(c.run.t, m.Signal(syscall.SIGTERM))
	select {
	case <-m.Ended():
	case <-time.After(2 * time.Minute):
		c.run.record.Add(soak.Event{Kind: soak.Left, Text: fmt.Sprintf("worker %s did not end within 2 minutes of SIGTERM", m.id)})
		require.NoError(c.run.t, m.End(syscall.SIGKILL))
	}
	pause(ctx, c.run.lasting(c.random, 5*time.Second))
	c.replace(place)
	c.run.end(fault)
}

// freeze stops a worker for up to a minute. Whoever is frozen for less than its lease need not be missed, and neither
// it nor the others say anything then.
func (c *crew) freeze(ctx context.Context, place int) {
	m := c.members[place]
	fault := c.run.begin(soak.Fault{Kind: "worker SIGSTOP", Target: m.id})
	require.NoError(c.run.t, m.Signal(syscall.SIGSTOP))
	pause(ctx, c.run.lasting(c.random, time.Minute))
	require.NoError(c.run.t, m.Signal(syscall.SIGCONT))
	c.run.end(fault)
}

// cutOff takes one worker's way to Redis away.
func (c *crew) cutOff(ctx context.Context, place int) {
	m := c.members[place]
	how, cut := "cut", m.Proxy.Cut
	if c.random.IntN(2) == 0 {
		how, cut = "stalled", m.Proxy.Stall
	}
	fault := c.run.begin(soak.Fault{Kind: "worker without Redis", Target: m.id + " " + how})
	cut()
	pause(ctx, c.run.lasting(c.random, 45*time.Second))
	m.Proxy.Heal()
	c.run.end(fault)
}

// killClient kills a client that waits for a job.
func (c *crew) killClient(ctx context.Context, _ int) {
	id := c.run.jobs.oneOf(c.random)
	if id == "" {
		return
	}
	fault := c.run.begin(soak.Fault{Kind: "client SIGKILL", Target: id})
	client := c.run.lab.StartEnqueue(c.run.t, "wait", id)
	pause(ctx, time.Duration(c.random.IntN(1500))*time.Millisecond)
	require.NoError(c.run.t, client.End(syscall.SIGKILL))
	c.run.end(fault)
}
