package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// containerStarter starts containers, as docker.Runner does.
type containerStarter interface {
	Warm(ctx context.Context) error
	ProbeOn(ctx context.Context, runtime string) error
}

// tryRuntimes fills the pool and starts a container of each runtime of which the pool has none, so that no job is
// the first to find a runtime broken. Each problem has the key and the value of its runtime.
func (d *daemon) tryRuntimes(ctx context.Context, c config.Sandbox, options docker.Options, starter containerStarter, log *slog.Logger) (problems []error) {
	for _, runtime := range usedRuntimes(c) {
		var err error
		if options.PoolSize > 0 && runtime == options.RuntimeOf("") {
			err = starter.Warm(ctx)
		} else {
			err = starter.ProbeOn(ctx, runtime)
		}
		if err == nil && d.isGVisor(runtime) {
			err = d.tryGVisor(ctx, options, runtime, log)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", d.setting(c, runtime), err))
		}
	}
	return problems
}

// setting names the keys that choose a runtime, and the runtime.
func (d *daemon) setting(c config.Sandbox, runtime string) string {
	if runtime == "" {
		return fmt.Sprintf("sandbox.runtime: the daemon's default, %q", d.info.DefaultRuntime)
	}
	named := c.RuntimeKeys()
	maps.DeleteFunc(named, func(_, value string) bool { return value != runtime })
	return fmt.Sprintf("%s: %q", strings.Join(slices.Sorted(maps.Keys(named)), ", "), runtime)
}

// isGVisor tells whether a runtime, or with "" the daemon's default, is gVisor's.
func (d *daemon) isGVisor(runtime string) bool {
	name := cmp.Or(runtime, d.info.DefaultRuntime)
	return docker.IsGVisor(name, d.info.Runtimes[name])
}

// tryGVisor refuses a gVisor that lets programs open the files of process 1, as that of Debian does.
func (d *daemon) tryGVisor(ctx context.Context, options docker.Options, runtime string, log *slog.Logger) (err error) {
	languages := options.Languages.All()
	if options.Languages, err = checkLanguages(languages); err != nil {
		return err
	}
	options.Runtime, options.Runtimes, options.PoolSize, options.Egress = runtime, nil, 0, nil
	options.Log = slog.New(slog.DiscardHandler) // the worker's own runner has told of absent images
	runner, err := docker.New(ctx, d.client, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRunner(ctx, runner)) }()
	said, err := (&checker{runner: runner}).opensFilesOfPID1(ctx, languages)
	if err != nil {
		return err
	}
	switch said {
	case "allowed":
		return errors.New("it lets programs open the files of process 1 (/proc/1/fd): name a newer runsc in \"runtimes\" of the daemon's configuration (docs/gvisor.md)")
	case "":
		log.Warn("no image has a shell that tells whether gVisor lets programs open the files of process 1", "runtime", runtime)
	}
	return nil
}

// openPID1 opens the stdin of process 1.
const openPID1 = "if (: </proc/1/fd/0) 2>/dev/null; then echo allowed; else echo refused; fi\n"

// opensFilesOfPID1 says "allowed" or "refused", in the words of the first image that has a shell, or "" if none has.
func (c *checker) opensFilesOfPID1(ctx context.Context, languages []sandbox.Language) (string, error) {
	tried := map[string]bool{}
	for _, language := range languages {
		if tried[language.Image] {
			continue
		}
		tried[language.Image] = true
		result, err := c.shell(ctx, language.Image, openPID1, sandbox.Overrides{})
		if errors.Is(err, docker.ErrImageAbsent) {
			continue
		}
		if err != nil {
			return "", err
		}
		if said := firstLine(result.Stdout.Data); said == "allowed" || said == "refused" {
			return said, nil
		}
	}
	return "", nil
}
