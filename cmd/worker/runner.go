package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// closeTimeout bounds the removal of all containers at the end.
const closeTimeout = time.Minute

// runnerOptions are those that come from the configuration alone.
func runnerOptions(c config.Config, languages *sandbox.Languages) (docker.Options, error) {
	initPath, err := findInit(c.Sandbox.InitPath)
	if err != nil {
		return docker.Options{}, err
	}
	profile, err := c.Sandbox.SeccompProfile()
	if err != nil {
		return docker.Options{}, err
	}
	proxy, err := egressOptions(c.Network)
	if err != nil {
		return docker.Options{}, err
	}
	return docker.Options{
		Languages: languages, Defaults: c.Limits.Defaults.Sandbox(), Maxima: c.Limits.Maxima.Sandbox(),
		Runtime: c.Sandbox.Runtime, Runtimes: runtimeRules(c.Sandbox.Runtimes), Seccomp: profile, InitPath: initPath, PoolSize: c.Sandbox.PoolSize,
		AllowNetwork: c.Sandbox.AllowNetwork, Egress: proxy, AllowReuse: c.Sandbox.AllowReuse,
	}, nil
}

func runtimeRules(configured []config.RuntimeRule) []docker.RuntimeRule {
	var rules []docker.RuntimeRule
	for _, rule := range configured {
		rules = append(rules, docker.RuntimeRule{Tenants: rule.Tenants, Runtime: rule.Runtime})
	}
	return rules
}

// findInit returns the path of sandbox-init, by default beside this program.
func findInit(configured string) (string, error) {
	return findProgram("sandbox-init", configured, "sandbox.init_path")
}

// findProgram returns the path of a program of ours, by default beside this one; key is where another can be set.
func findProgram(name, configured, key string) (string, error) {
	path := configured
	if path == "" {
		executable, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find %s: %w", name, err)
		}
		path = filepath.Join(filepath.Dir(executable), name)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w: build it ('make build') beside worker, or set %s", name, err, key)
	}
	return path, nil
}

// closeRunner removes all containers, also when ctx has ended.
func closeRunner(ctx context.Context, runner *docker.Runner) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return runner.Close(ctx)
}
