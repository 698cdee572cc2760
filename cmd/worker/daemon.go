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
	for _, warning := range d.warnings(ctx, c) {
		log.Warn("the host may have known holes", "detail", warning)
	}
	return daemonProblems(d.info, c)
}

// daemonProblems says what the daemon lacks to keep limits.
func daemonProblems(info system.Info, c config.Sandbox) error {
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
	named := c.RuntimeKeys()
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if _, known := info.Runtimes[named[key]]; !known {
			errs = append(errs, fmt.Errorf("%s: the Docker daemon has no runtime %q: want one of %s, or add it to \"runtimes\" of the daemon's configuration",
				key, named[key], strings.Join(slices.Sorted(maps.Keys(info.Runtimes)), ", ")))
		}
	}
	return errors.Join(errs...)
}

// algFixed is the first Docker Engine whose own profile has no AF_ALG sockets, through which CVE-2026-31431 (Copy Fail) writes to
// files of images and of the host (docker.com/blog/mitigating-cve-2026-31431-copy-fail-in-docker-engine).
const algFixed = "29.4.3"

// warnings name the holes that the daemon's host may have.
func (d *daemon) warnings(ctx context.Context, c config.Sandbox) (warnings []string) {
	version, err := d.client.ServerVersion(ctx)
	if err != nil {
		return nil // a daemon that stopped answering is somebody else's message
	}
	components := map[string]string{linux: d.info.KernelVersion}
	for _, component := range version.Components {
		components[component.Name] = component.Version
	}
	if !d.runsRunc(c) {
		delete(components, runc)
	}
	for _, name := range slices.Sorted(maps.Keys(components)) {
		for _, missing := range missingFixes(name, components[name]) {
			warnings = append(warnings, fmt.Sprintf("%s %s may lack the fix of %s; distributions bring fixes under old numbers, so look at your distribution's security tracker", name, components[name], missing))
		}
	}
	return append(warnings, profileWarnings(version.Version, c.Seccomp)...)
}

// profileWarnings tell of what the daemon's own profile lets through, where that is used.
func profileWarnings(version, seccomp string) []string {
	have, known := parseVersion(version)
	fixed, _ := parseVersion(algFixed)
	if seccomp != config.DockerSeccomp || !known || !have.before(fixed) {
		return nil
	}
	return []string{fmt.Sprintf("the seccomp profile of Docker %s lets programs make AF_ALG sockets, which CVE-2026-31431 wants: leave sandbox.seccomp empty, or take Docker %s", version, algFixed)}
}

// runsRunc tells whether some sandboxes run on runc.
func (d *daemon) runsRunc(c config.Sandbox) bool {
	for _, runtime := range usedRuntimes(c) {
		runtime = cmp.Or(runtime, d.info.DefaultRuntime)
		if runtime == runc || strings.HasPrefix(runtime, "io.containerd.runc") {
			return true
		}
	}
	return false
}

// usedRuntimes are the runtimes of the settings, each once and that of most jobs first; "" is the daemon's default.
func usedRuntimes(c config.Sandbox) []string {
	used := []string{c.Runtime}
	for _, rule := range c.Runtimes {
		if !slices.Contains(used, rule.Runtime) {
			used = append(used, rule.Runtime)
		}
	}
	return used
}

// hostID names the daemon in keys of Redis.
func (d *daemon) hostID() string { return strings.ReplaceAll(d.info.ID, ":", "") }
