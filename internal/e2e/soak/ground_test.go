//go:build soak

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/e2e/soak"
)

// calamity is a fault of what all workers stand on.
type calamity struct {
	kind string
	most time.Duration
	// says are the messages by which a worker shows that it noticed; forgets is as in soak.Fault.
	says         []soak.Said
	forgets      bool
	inject, lift func() error
}

// The messages of a worker that does not reach Redis, or Docker.
var (
	redisSays = []soak.Said{
		{Message: "heartbeat not written"},
		{Message: "redis does not do its part, will try again"},
		{Message: "redis does not answer"},
		{Message: "sweep for lost workers did not end well"},
		{Message: "running set not updated, the next heartbeat will"},
	}
	dockerSays = []soak.Said{
		{Message: "attempt failed"},
		{Message: "warm pool is not full"},
		{Message: "reaping did not end well"},
		{Message: "container was not removed; the reaper will try again"},
		{Message: "older attempts not killed"},
	}
)

func (r *run) calamities() []calamity {
	server, daemon := r.lab.Redis, r.lab.Daemon
	nothing := func() error { return nil }
	list := []calamity{
		{"Redis SIGKILL", 15 * time.Second, nil, false, func() error { return server.End(syscall.SIGKILL) }, server.Start},
		{"Redis loses its last second", 3 * time.Second, nil, true, func() error { return server.EndLosing(time.Second) }, server.Start},
		{"Redis unreachable", 45 * time.Second, nil, false, r.each((*faults.Proxy).Cut), r.each((*faults.Proxy).Heal)},
		{"Redis silent", 45 * time.Second, nil, false, r.each((*faults.Proxy).Stall), r.each((*faults.Proxy).Heal)},
		{"Redis out of memory", 30 * time.Second, nil, false, server.Fill, server.Empty},
		{"dockerd restart", 0, dockerSays, false, daemon.Restart, nothing},
		{"dockerd stopped", 30 * time.Second, dockerSays, false, daemon.Stop, daemon.Start},
		{"image removed", 15 * time.Second, nil, false, removeImage(daemon), daemon.RestoreImage},
		{"disk full under Docker", 20 * time.Second, nil, false, daemon.FillDisk, daemon.EmptyDisk},
	}
	if server.StepClock(0) == nil { // there is a way to
		list = append(list,
			calamity{"Redis' clock a minute ahead", 20 * time.Second, nil, false, func() error { return server.StepClock(time.Minute) }, func() error { return server.StepClock(0) }},
			calamity{"Redis' clock a minute behind", 20 * time.Second, nil, false, func() error { return server.StepClock(-time.Minute) }, func() error { return server.StepClock(0) }})
	}
	return list
}

// each does something to every way to Redis.
func (r *run) each(do func(*faults.Proxy)) func() error {
	return func() error {
		do(r.lab.Proxy)
		for _, w := range r.lab.Workers() {
			if !w.HasEnded() {
				do(w.Proxy)
			}
		}
		return nil
	}
}

// removeImage takes the image away, or at least its name and every container: three workers make new ones as fast as others go.
func removeImage(daemon *faults.Daemon) func() error {
	return func() error {
		_ = daemon.RemoveImage()
		return nil
	}
}

// breakGround has one calamity after the other until ctx ends.
func (r *run) breakGround(ctx context.Context) {
	random := r.random(2)
	choices := []func(){func() { r.removeContainer(random) }, func() { r.removeContainer(random) }}
	for _, c := range r.calamities() {
		choices = append(choices, func() { r.suffer(ctx, random, c) })
	}
	for {
		pause(ctx, r.between(random))
		if ctx.Err() != nil {
			return
		}
		choices[random.IntN(len(choices))]()
	}
}

// suffer has a calamity begin, last and end.
func (r *run) suffer(ctx context.Context, random *rand.Rand, c calamity) {
	lasts := r.lasting(random, c.most)
	fault := soak.Fault{Kind: c.kind, Forgets: c.forgets, Says: c.says}
	if strings.HasPrefix(c.kind, "Redis") && !strings.Contains(c.kind, "clock") && lasts > noticed {
		fault.Says = redisSays
	}
	begun := r.begin(fault)
	if err := c.inject(); err != nil {
		r.t.Errorf("%s: %v", c.kind, err)
	}
	pause(ctx, lasts)
	if err := c.lift(); err != nil {
		r.t.Errorf("%s, lift: %v", c.kind, err)
	}
	r.end(begun)
}

// noticed is how long Redis must be away for a worker to say so: its own tries go on for a while.
const noticed = 6 * time.Second

// removeContainer removes the container of a running job by hand.
func (r *run) removeContainer(random *rand.Rand) {
	out, err := r.lab.Daemon.Docker("ps", "--format", "{{.Names}}", "--filter", "name=sandloop-job-")
	names := strings.Fields(out)
	if err != nil || len(names) == 0 {
		return
	}
	fault := r.begin(soak.Fault{Kind: "container removed", Target: names[random.IntN(len(names))]})
	if _, err := r.lab.Daemon.Docker("rm", "--force", fault.Target); err != nil && !strings.Contains(err.Error(), "o such container") &&
		!strings.Contains(err.Error(), "already in progress") {
		r.t.Error(fmt.Errorf("remove container: %w", err))
	}
	r.end(fault)
}
