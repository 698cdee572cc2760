package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/config"
)

const (
	// minAPI is that of Docker 20.10, the first with private cgroup namespaces.
	minAPI = "1.41"
	// daemonTimeout bounds the first question to a daemon.
	daemonTimeout = 15 * time.Second
)

// daemon is a Docker daemon that answered and can do what is needed.
type daemon struct {
	client *client.Client
	info   system.Info
}

// connectDaemon connects to the daemon and checks it. Warnings go to the log.
func connectDaemon(ctx context.Context, c config.Sandbox, log *slog.Logger) (*daemon, error) {
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if c.DockerHost != "" {
		options = append(options, client.WithHost(c.DockerHost))
	}
	docker, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("docker: sandbox.docker_host or DOCKER_HOST: %w", err)
	}
	d := &daemon{client: docker}
	if err := d.check(ctx, c, log); err != nil {
		return nil, errors.Join(err, docker.Close())
	}
	return d, nil
}

func (d *daemon) check(ctx context.Context, c config.Sandbox, log *slog.Logger) error {
	ping, err := d.client.Ping(ctx)
	if err != nil {
		return fmt.Errorf("docker: no daemon answers at %s: start it ('make setup' does), or set sandbox.docker_host: %w", d.client.DaemonHost(), err)
	}
	if versions.LessThan(ping.APIVersion, minAPI) {
		return fmt.Errorf("docker: the daemon's API is %s: want at least %s, that is Docker 20.10", ping.APIVersion, minAPI)
	}
	if d.info, err = d.client.Info(ctx); err != nil {
		return fmt.Errorf("docker: ask the daemon about itself: %w", err)
	}
	for _, warning := range d.runcWarnings(ctx, c.Runtime) {
		log.Warn("the container runtime may have known holes", "detail", warning)
	}
	return daemonProblems(d.info, c.Runtime)
}

// daemonProblems says what the daemon lacks to keep limits.
func daemonProblems(info system.Info, runtime string) error {
	var errs []error
	if info.OSType != "linux" {
		errs = append(errs, fmt.Errorf("docker: the daemon runs %s containers: want linux", info.OSType))
	}
	for _, ability := range []struct {
		has  bool
		name string
	}{{info.MemoryLimit, "memory"}, {info.CPUCfsQuota, "processors"}, {info.PidsLimit, "processes"}} {
		if !ability.has {
			errs = append(errs, fmt.Errorf("docker: the daemon's kernel cannot limit %s: mount the cgroup controllers (see 'docker info')", ability.name))
		}
	}
	if _, known := info.Runtimes[runtime]; runtime != "" && !known {
		errs = append(errs, fmt.Errorf("docker: the daemon has no runtime %q: see sandbox.runtime and the daemon's \"runtimes\"", runtime))
	}
	return errors.Join(errs...)
}

// runcWarnings names the holes that the daemon's runc may have, if that is what runs.
func (d *daemon) runcWarnings(ctx context.Context, runtime string) (warnings []string) {
	if runtime == "" {
		runtime = d.info.DefaultRuntime
	}
	if runtime != "runc" && !strings.HasPrefix(runtime, "io.containerd.runc") {
		return nil
	}
	version, err := d.client.ServerVersion(ctx)
	if err != nil {
		return nil // a daemon that stopped answering is somebody else's message
	}
	for _, component := range version.Components {
		if component.Name != "runc" {
			continue
		}
		for _, missing := range missingRuncFixes(component.Version) {
			warnings = append(warnings, fmt.Sprintf("runc %s may lack the fix of %s; distributions bring fixes under old numbers, so look at your distribution's security tracker", component.Version, missing))
		}
	}
	return warnings
}

// hostID names the daemon in keys of Redis.
func (d *daemon) hostID() string { return strings.ReplaceAll(d.info.ID, ":", "") }
