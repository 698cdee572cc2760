package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
)

const healthHelp = `health asks the worker that has the same configuration, on this machine or in this container, whether it
is alive, or with --ready whether it takes jobs. It is for health checks of Docker, where
the image has no other program that could ask. admin.addr must be set.

Exit codes: 0 yes, 1 no or no answer, 2 bad command line.`

// healthTimeout is less than what a health check usually has.
const healthTimeout = 4 * time.Second

func newHealthCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "health", Short: "Ask a worker on this machine whether it is alive", Long: healthHelp, Args: cobra.NoArgs,
	}
	ready := cmd.Flags().Bool("ready", false, "ask whether it takes jobs, and not only whether it is alive")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := config.Load(cmd.Flags())
		if err != nil {
			return err
		}
		path := "/livez"
		if *ready {
			path = "/readyz"
		}
		return a.health(cmd.Context(), loaded.Admin.Addr, path)
	}
	return cmd
}

// health prints what the worker says and fails unless it is well.
func (a *app) health(ctx context.Context, addr, path string) error {
	url, err := healthURL(addr, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// The variables that name a proxy are not for a worker on this machine.
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("no worker answers: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(a.stdout, io.LimitReader(response.Body, 64<<10)); err != nil {
		return fmt.Errorf("read what %s says: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the worker is not well: %s says %s", url, response.Status)
	}
	return nil
}

// healthURL is where a worker that listens on addr is asked from the same machine.
func healthURL(addr, path string) (string, error) {
	if addr == "" {
		return "", fmt.Errorf("admin.addr: is not set: want the address of the worker, such as :9390")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("admin.addr: %w", err)
	}
	if port == "0" {
		return "", fmt.Errorf("admin.addr: %s is any free port: want one that is known", addr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}
