package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

const checkHelp = `check runs programs in containers as the worker would, with the default limits, and compares
what was asked for with what the kernel says inside and with what a program manages to do. Where
network.rules gives some jobs a network, it looks at what a program reaches there, too.
It needs Docker and no Redis.

Exit codes: 0 everything is as asked, 1 something differs or could not be checked.`

// checkInstallation labels what a check creates, so that no reaper of a worker takes it.
const checkInstallation = "sandloop-check"

func newCheckCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Compare the isolation that is asked for with what the kernel says", Long: checkHelp,
		Args: cobra.NoArgs,
	}
	names := cmd.Flags().StringSliceP("language", "l", nil, "check only this `language` and its image; can be repeated")
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := config.Load(cmd.Flags())
		if err != nil {
			return &startError{[]error{err}}
		}
		report, err := a.check(cmd.Context(), loaded, *names)
		if err != nil {
			return err
		}
		write := report.writeTable
		if *asJSON {
			write = report.writeJSON
		}
		if err := write(a.stdout); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		if !report.OK {
			return errDiffers
		}
		return nil
	}
	return cmd
}

// check looks at the images of the named languages, or of all that the daemon has.
func (a *app) check(ctx context.Context, c config.Config, names []string) (report *checkReport, err error) {
	log, err := newLogger(a.stderr, c.Log)
	if err != nil {
		return nil, err
	}
	all, err := c.Languages()
	if err != nil {
		return nil, &startError{[]error{err}}
	}
	chosen, err := chooseLanguages(all, names)
	if err != nil {
		return nil, &usageError{err}
	}
	d, err := connectDaemon(ctx, c.Sandbox, log)
	if err != nil {
		return nil, &startError{[]error{err}}
	}
	defer func() { err = errors.Join(err, d.client.Close()) }()
	present, absent, err := imagesPresent(ctx, d.client, chosen)
	if err != nil {
		return nil, err
	}
	if len(present) == 0 || (len(names) > 0 && len(absent) > 0) {
		return nil, &startError{sentences(absent)}
	}
	report = &checkReport{Absent: absent, Host: newHostReport(d.info, c.Sandbox)}
	report.Host.Warnings = d.warnings(ctx, c.Sandbox)
	rows := slices.DeleteFunc(slices.Clone(chosen.All()), func(l sandbox.Language) bool { return !slices.Contains(present, l.Image) })
	for _, runtime := range usedRuntimes(c.Sandbox) {
		c.Sandbox.Runtime, c.Sandbox.Runtimes = runtime, nil
		if err := a.checkWith(ctx, c, d, rows, report); err != nil {
			return nil, err
		}
	}
	report.judge()
	return report, nil
}

// checkWith fills the report from a runner of one runtime without warm containers.
func (a *app) checkWith(ctx context.Context, c config.Config, d *daemon, rows []sandbox.Language, report *checkReport) (err error) {
	table, err := checkLanguages(rows)
	if err != nil {
		return err
	}
	options, err := runnerOptions(c, table)
	if err != nil {
		return &startError{[]error{err}}
	}
	options.Worker, options.Installation, options.PoolSize = jobs.NewWorkerID(), checkInstallation, 0
	options.Log = slog.New(slog.DiscardHandler)
	runner, err := docker.New(ctx, d.client, options)
	if err != nil {
		return &startError{[]error{err}}
	}
	defer func() { err = errors.Join(err, closeRunner(ctx, runner), d.sweepCheck(ctx)) }()
	check := &checker{runner: runner, limits: options.Defaults, host: newHostReport(d.info, c.Sandbox)}
	progress := newProgress(a.stderr)
	defer progress.done()
	looked, before := map[string]bool{}, len(report.Images)
	for _, row := range rows {
		if looked[row.Image] {
			continue
		}
		looked[row.Image] = true
		progress.say("looking at image %s on %s", row.Image, check.host.Runtime)
		image, err := check.image(ctx, row.Image)
		if err != nil {
			return err
		}
		report.Images = append(report.Images, image)
	}
	if options.Egress != nil {
		progress.say("looking at the network on %s", check.host.Runtime)
		if err := check.network(ctx, report.Images[before:], networked(options.Egress)); err != nil {
			return err
		}
	}
	for _, row := range rows {
		progress.say("trying language %s on %s", row.Name, check.host.Runtime)
		report.Languages = append(report.Languages, check.language(ctx, row))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// sweepCheck removes what checks left, this one and any that was killed.
func (d *daemon) sweepCheck(ctx context.Context) error {
	nobody := func(context.Context, ...string) (map[string]bool, error) { return nil, nil }
	sweeper, err := reaper.New(d.client, reaper.Options{
		Installation: checkInstallation, Alive: nobody, VolumeAge: time.Nanosecond,
		Confirm: time.Millisecond, Grace: time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_, err = sweeper.Sweep(ctx)
	return err
}

// chooseLanguages returns the named languages, or all.
func chooseLanguages(all *sandbox.Languages, names []string) (*sandbox.Languages, error) {
	if len(names) == 0 {
		return all, nil
	}
	var rows []sandbox.Language
	for _, name := range names {
		row, err := all.Lookup(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return sandbox.NewLanguages(rows)
}

func sentences(texts []string) (errs []error) {
	for _, text := range texts {
		errs = append(errs, errors.New(text))
	}
	return errs
}

// progress tells people at a terminal what goes on, on one line.
type progress struct{ w io.Writer }

func newProgress(w io.Writer) progress {
	if !isTerminal(w) {
		return progress{io.Discard}
	}
	return progress{w}
}

func (p progress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, "\r\033[K"+format, args...)
}

func (p progress) done() { _, _ = fmt.Fprint(p.w, "\r\033[K") }
