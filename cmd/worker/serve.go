package main

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// serve runs a worker until ctx ends.
func (a *app) serve(ctx context.Context, c config.Config) (err error) {
	log, err := newLogger(a.stderr, c.Log)
	if err != nil {
		return err
	}
	log.Info("configuration", "config", c)
	p, err := prepare(ctx, c, log)
	if err != nil {
		return unlessStopped(ctx, err, log)
	}
	defer func() { err = errors.Join(err, p.close()) }()

	id := jobs.NewWorkerID()
	ops := p.operate(ctx, c, id, log)
	defer func() { err = errors.Join(err, ops.end(ctx)) }()
	installation, err := jobs.EnsureInstallation(ctx, p.queue, c.Redis.Prefix, p.queue.installation())
	if err != nil {
		return unlessStopped(ctx, &startError{[]error{err}}, log)
	}
	traces, err := startTraces(ctx, c.Tracing, id, log)
	if err != nil {
		return unlessStopped(ctx, &startError{[]error{err}}, log)
	}
	defer traces.Close(ctx)
	options := p.options
	options.Worker, options.Installation, options.Log = id, installation, log.With("worker", id)
	options.OnStart = ops.metrics.ContainerStarted
	runner, err := docker.New(ctx, p.daemon.client, options)
	if err != nil {
		return unlessStopped(ctx, &startError{[]error{err}}, log)
	}
	defer func() { err = errors.Join(err, closeRunner(ctx, runner)) }()
	if problems := p.daemon.tryRuntimes(ctx, c.Sandbox, options, runner, log); len(problems) > 0 {
		return unlessStopped(ctx, &startError{problems}, log)
	}
	slots := p.slots(c, log)
	judge := p.newJudge(c, runner, slots, log)
	defer func() { err = errors.Join(err, closeJudge(ctx, judge)) }() // before the runner whose containers it holds
	inSessions := p.newSessions(c, id, runner, log)
	defer watchSessions(ctx, inSessions)() // and so are these
	worker, err := p.newWorker(c, jobs.WorkerOptions{
		ID: id, Runner: runner, Judge: judge, Sessions: inSessions, SessionSlots: max(1, c.Sessions.Live), Concurrency: slots, Log: log, Ready: runner.Probe,
		Tracer: traces.Provider(), Observe: ops.metrics.JobFinished, ObserveRecovery: ops.metrics.WorkerRecovered,
	}, installation, runner.InitVolumes(), ops)
	if err != nil {
		return err
	}
	ops.watch(worker, runner, inSessions, c.Sessions.Live)
	err = worker.Run(ctx)
	logEnd(log, worker, runner)
	return err
}

// unlessStopped makes it no failure that a worker was stopped before it was up. What did not
// work is only logged then, for most of it is the stop's own doing.
func unlessStopped(ctx context.Context, err error, log *slog.Logger) error {
	if ctx.Err() == nil {
		return err
	}
	log.Warn("worker stopped before it was up", "cause", context.Cause(ctx), "error", err)
	return nil
}

// parts are what a worker is made from, each of them checked.
type parts struct {
	queue   *queue
	keys    cli.Keys
	daemon  *daemon
	options docker.Options
	admin   net.Listener // nil if nothing is to be served
}

// prepare connects to everything and looks at it. The error tells everything that is wrong.
func prepare(ctx context.Context, c config.Config, log *slog.Logger) (*parts, error) {
	p := &parts{}
	problems := make([]error, 0, 4)
	var err error
	if p.keys, err = cli.WorkerKeys(c.Jobs); err != nil {
		problems = append(problems, err)
	}
	languages, err := c.Languages()
	if err != nil {
		problems = append(problems, err)
	} else if p.options, err = runnerOptions(c, languages); err != nil {
		problems = append(problems, err)
	}
	if p.queue, err = connectQueue(ctx, c.Redis, log); err != nil {
		problems = append(problems, err)
	}
	if p.daemon, err = connectDaemon(ctx, c.Sandbox, log); err != nil {
		problems = append(problems, err)
	} else if newHostReport(p.daemon.info, c.Sandbox).log(log); languages != nil {
		problems = append(problems, checkImages(ctx, p.daemon, languages, log)...)
	}
	if p.admin, err = listenAdmin(ctx, c.Admin); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return nil, errors.Join(&startError{problems}, p.close())
	}
	return p, nil
}

// checkImages warns of images that are absent. That all of them are is a problem.
func checkImages(ctx context.Context, d *daemon, languages *sandbox.Languages, log *slog.Logger) []error {
	present, absent, err := imagesPresent(ctx, d.client, languages)
	switch {
	case err != nil:
		return []error{err}
	case len(present) == 0:
		return sentences(absent)
	}
	for _, sentence := range absent {
		log.Warn("some languages do not run", "detail", sentence)
	}
	return nil
}

func (p *parts) close() error {
	var errs []error
	if p.admin != nil {
		_ = p.admin.Close() // again, if it was served
	}
	if p.daemon != nil {
		errs = append(errs, p.daemon.client.Close())
	}
	if p.queue != nil {
		errs = append(errs, p.queue.Close())
	}
	return errors.Join(errs...)
}

// newWorker completes the options of a worker with what the configuration says.
func (p *parts) newWorker(c config.Config, options jobs.WorkerOptions, installation string, volumes []string, ops *operations) (*jobs.Worker, error) {
	client := jobs.NewClient(p.queue, jobs.ClientOptions{Prefix: c.Redis.Prefix, Log: options.Log})
	sweeper, err := reaper.New(p.daemon.client, reaper.Options{
		Installation: installation, Self: options.ID, Volumes: volumes, Alive: client.WorkerAlive, Grace: c.Reaper.Grace,
		Log: options.Log.With("worker", options.ID),
	})
	if err != nil {
		return nil, err
	}
	options.Redis, options.Prefix, options.Retention = p.queue, c.Redis.Prefix, c.Jobs.Retention
	options.VerifyKeys, options.SealKeys = p.keys.Verify, p.keys.Seal
	options.InteractiveSlots, options.Grace, options.MaxAttempts = c.Worker.InteractiveSlots, c.Worker.Grace, c.Worker.MaxAttempts
	options.Weights = map[jobs.Queue]int{
		jobs.Interactive: c.Worker.Weights.Interactive, jobs.Default: c.Worker.Weights.Default, jobs.Batch: c.Worker.Weights.Batch,
	}
	options.Host, options.ReapEvery = p.daemon.hostID(), c.Reaper.Period
	options.Reap = func(ctx context.Context) error {
		report, err := sweeper.Sweep(ctx)
		ops.metrics.Swept(report, err)
		return err
	}
	return jobs.NewWorker(options)
}

// slots is how many jobs run at once. What fits is reckoned from the daemon's machine,
// which is where the jobs run.
func (p *parts) slots(c config.Config, log *slog.Logger) int {
	if c.Worker.Concurrency > 0 {
		return c.Worker.Concurrency
	}
	fits := config.AutoConcurrency(float64(p.daemon.info.NCPU), p.daemon.info.MemTotal, c.Limits.Defaults.Sandbox())
	log.Info("jobs at once", "slots", fits.String())
	return fits.Slots
}

func logEnd(log *slog.Logger, worker *jobs.Worker, runner *docker.Runner) {
	done, containers := worker.Counters(), runner.Stats()
	log.Info("worker ended", "finished", done.Finished.Load(), "failed", done.Failed.Load(), "requeued", done.Requeued.Load(),
		"warm_hits", containers.WarmHits, "cold_starts", containers.ColdStarts)
}
