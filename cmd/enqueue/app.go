package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing"
)

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// parsed is set once the command line is known to be right.
	parsed bool
}

// settings are the configuration and what follows from it without a connection.
type settings struct {
	config           config.Config
	languages        *sandbox.Languages
	defaults, maxima sandbox.Limits
	// stderr is where trouble is told that ends nothing.
	stderr io.Writer
	// traces are there once there is a connection, if they are asked for.
	traces *tracing.Traces
}

// settings reads the configuration. Its errors are the user's to mend.
func (a *app) settings(cmd *cobra.Command) (*settings, error) {
	loaded, err := config.Load(cmd.Flags())
	if err != nil {
		return nil, usageError(err)
	}
	languages, err := loaded.Languages()
	if err != nil {
		return nil, usageError(err)
	}
	return &settings{
		config: loaded, languages: languages,
		defaults: loaded.Limits.Defaults.Sandbox(), maxima: loaded.Limits.Maxima.Sandbox(), stderr: a.stderr,
	}, nil
}

// printJSON writes a value as one line of JSON.
func (a *app) printJSON(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if _, err = a.stdout.Write(append(line, '\n')); err != nil {
		return &cli.OutputError{Err: err}
	}
	return nil
}

// withClient reads the configuration, connects and calls do.
func (a *app) withClient(cmd *cobra.Command, do func(context.Context, *jobs.Client) error) error {
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	client, closeClient, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer closeClient()
	return do(cmd.Context(), client)
}
