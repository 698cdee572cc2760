package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/dockerproxy"
	sandboxes "github.com/sandloop/sandloop/internal/sandbox/docker"
)

const dockerProxyHelp = `docker-proxy serves a socket at which a worker finds a Docker daemon that does what workers need and nothing
else: it makes no container but a sandbox, and touches none but sandloop's. Who breaks into a worker
then has no root on the host. The proxy needs the daemon's socket (sandbox.docker_host), no network
and no Redis; the worker needs the proxy's socket alone:

  worker docker-proxy --listen /run/sandloop/docker.sock
  worker --config ... with sandbox.docker_host: unix:///run/sandloop/docker.sock

Both must have the same limits, languages and settings of the sections sandbox and network.

With --ping it serves nothing: it asks the one that serves the socket whether the daemon behind it answers.

Exit codes: 0 stopped as told or the daemon answers, 1 could not start or failed, 2 bad command line.`

func newDockerProxyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "docker-proxy", Short: "Let workers use Docker without having all of it", Long: dockerProxyHelp, Args: cobra.NoArgs,
	}
	socket := cmd.Flags().String("listen", "", "serve this Unix `socket`, which its owner and group may use")
	installation := cmd.Flags().String("installation", "", "serve no other installation than that with this `id`")
	ping := cmd.Flags().Bool("ping", false, "ask the docker-proxy at the socket whether its daemon answers")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *socket == "" {
			return &usageError{fmt.Errorf("--listen: is not given: want the path of a socket")}
		}
		if *ping {
			return pingDockerProxy(cmd.Context(), *socket)
		}
		loaded, err := config.Load(cmd.Flags())
		if err != nil {
			return &startError{[]error{err}}
		}
		return a.dockerProxy(cmd.Context(), loaded, *socket, *installation)
	}
	return cmd
}

// pingDockerProxy is for health checks of Docker, where the image has no other program that could ask.
func pingDockerProxy(ctx context.Context, socket string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	docker, err := client.NewClientWithOpts(client.WithHost("unix://" + socket))
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	if _, err := docker.Ping(ctx); err != nil {
		return fmt.Errorf("no docker-proxy with a daemon answers at %s: %w", socket, err)
	}
	return nil
}

// dockerProxy serves the socket until ctx ends.
func (a *app) dockerProxy(ctx context.Context, c config.Config, socket, installation string) error {
	log, err := newLogger(a.stderr, c.Log)
	if err != nil {
		return err
	}
	languages, err := c.Languages()
	if err != nil {
		return &startError{[]error{err}}
	}
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if c.Sandbox.DockerHost != "" {
		options = append(options, client.WithHost(c.Sandbox.DockerHost))
	}
	docker, err := client.NewClientWithOpts(options...)
	if err != nil {
		return &startError{[]error{fmt.Errorf("docker: sandbox.docker_host or DOCKER_HOST: %w", err)}}
	}
	defer func() { _ = docker.Close() }()
	var images []string
	for _, language := range languages.All() {
		images = append(images, language.Image)
	}
	profile, err := c.Sandbox.SeccompProfile()
	if err != nil {
		return &startError{[]error{err}}
	}
	egress, err := egressBehindProxy(c.Network)
	if err != nil {
		return &startError{[]error{err}}
	}
	info, err := docker.Info(ctx)
	if err != nil {
		return &startError{[]error{fmt.Errorf("docker: ask the daemon about itself: %w", err)}}
	}
	listener, err := dockerproxy.Listen(ctx, socket)
	if err != nil {
		return &startError{[]error{fmt.Errorf("--listen: %w", err)}}
	}
	log.Info("docker-proxy is served", "socket", socket, "daemon", docker.DaemonHost())
	return dockerproxy.New(dockerproxy.Options{
		Docker: docker, Images: images, Runtimes: allowedRuntimes(c.Sandbox), Seccomp: profile, GVisor: gVisorRuntimes(info),
		Maxima: c.Limits.Maxima.Sandbox(), Network: c.Sandbox.AllowNetwork, Egress: egress, Installation: installation, Log: log,
	}).Serve(ctx, listener)
}

// egressBehindProxy is what workers behind docker-proxy need for jobs with a network; nil is that none has one.
func egressBehindProxy(c config.Network) (*dockerproxy.Egress, error) {
	options, err := egressOptions(c)
	if options == nil || err != nil {
		return nil, err
	}
	program, err := os.ReadFile(options.ProxyPath)
	if err != nil {
		return nil, fmt.Errorf("egress-proxy: %w", err)
	}
	return &dockerproxy.Egress{Program: program, Rules: options.Bare(), Outgoing: options.Outgoing, Subnet: options.Subnet, DNS: options.DNS}, nil
}

// allowedRuntimes are those that the settings give to some tenant. Where sandbox.runtime is set the daemon's default is none of them.
func allowedRuntimes(s config.Sandbox) []string {
	runtimes := []string{s.Runtime}
	for _, rule := range s.Runtimes {
		runtimes = append(runtimes, rule.Runtime)
	}
	return runtimes
}

// gVisorRuntimes names those runtimes of a daemon that are gVisor's, as a request names them.
func gVisorRuntimes(info system.Info) (names []string) {
	for name, runtime := range info.Runtimes {
		if !sandboxes.IsGVisor(name, runtime) {
			continue
		}
		names = append(names, name)
		if name == info.DefaultRuntime {
			names = append(names, "")
		}
	}
	return names
}
