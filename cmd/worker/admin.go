package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/admin"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/metrics"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sessions"
)

// listenAdmin takes the address of the operations endpoint, nil if there is to be none. That it is in use is told before
// anything else starts.
func listenAdmin(ctx context.Context, c config.Admin) (net.Listener, error) {
	if c.Addr == "" {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("admin.addr: %s is in use, by another worker perhaps: give each an address of its own (--admin ADDRESS, or port 0 for any that is free), or none", c.Addr)
	case err != nil:
		return nil, fmt.Errorf("admin.addr: %w", err)
	}
	return listener, nil
}

// operations is what operators see of a worker, from its start to its end.
type operations struct {
	metrics *metrics.Metrics
	server  *admin.Server // nil if there is none
	worker  atomic.Pointer[jobs.Worker]
}

// operate counts from now on and, if the configuration wants it, serves. ctx is the worker's: when it ends, the worker drains.
func (p *parts) operate(ctx context.Context, c config.Config, id string, log *slog.Logger) *operations {
	client := jobs.NewClient(p.queue, jobs.ClientOptions{Prefix: c.Redis.Prefix, SealKeys: p.keys.Seal, Log: log})
	stats := admin.NewRecent(client.Stats)
	o := &operations{metrics: metrics.New(metrics.Options{Worker: id, Languages: p.options.Languages.Names(), Stats: stats.Get})} //nolint:contextcheck // a scrape has no context
	o.metrics.WatchRedis(p.queue)
	if p.admin == nil {
		return o
	}
	overview := admin.NewRecent(func(ctx context.Context) (admin.Overview, error) { return overviewOf(ctx, client, stats, id) })
	o.server = admin.Start(p.admin, admin.Options{
		Token: c.Admin.Token, ProtectMetrics: c.Admin.ProtectMetrics, Live: o.live, Checks: p.checks(ctx, o),
		Metrics: o.metrics.Handler(), Overview: overview.Get, Queues: admin.Queues(p.queue.UniversalClient), Log: log.With("worker", id),
	})
	log.Info("probes and metrics are served", "admin", p.admin.Addr().String(), "pages", c.Admin.Token != "")
	return o
}

// watch adds what the worker itself counts.
func (o *operations) watch(worker *jobs.Worker, runner *docker.Runner, inSessions *sessions.Sessions, live int) {
	o.metrics.WatchWorker(worker)
	o.metrics.WatchContainers(runner.Stats)
	o.metrics.WatchInterpreters(inSessions.Held, live)
	o.worker.Store(worker)
}

// end stops serving.
func (o *operations) end(ctx context.Context) error {
	if o.server == nil {
		return nil
	}
	return o.server.Close(ctx)
}

// live tells whether the worker's loops go round. One that is not up yet is alive.
func (o *operations) live() error {
	if worker := o.worker.Load(); worker != nil {
		return worker.Live()
	}
	return nil
}

const (
	// newestDead is how many dead letters the page shows.
	newestDead = 20
	// mostTenants is of how many tenants of each queue it does.
	mostTenants = 20
)

func overviewOf(ctx context.Context, client *jobs.Client, stats *admin.Recent[jobs.Stats], id string) (o admin.Overview, err error) {
	o.Worker = id
	if o.Stats, err = stats.Get(ctx); err != nil {
		return o, err
	}
	for _, queue := range jobs.Queues() {
		tenants, err := client.Tenants(ctx, queue)
		if err != nil {
			return o, err
		}
		for _, tenant := range tenants[:min(mostTenants, len(tenants))] {
			o.Tenants = append(o.Tenants, admin.Tenant{Queue: queue, TenantStats: tenant})
		}
	}
	for letter, err := range client.DeadLetters(ctx, jobs.DeadFilter{}) {
		if err != nil {
			return o, err
		}
		if o.Dead = append(o.Dead, letter); len(o.Dead) == newestDead {
			break
		}
	}
	return o, nil
}
