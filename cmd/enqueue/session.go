package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/workspace"
)

// sessionFlags are what all session commands share.
type sessionFlags struct {
	tenant string
	asJSON bool
}

func newSessionCommand(a *app) *cobra.Command {
	f := &sessionFlags{}
	cmd := &cobra.Command{
		Use: "session", Short: "Look at the files of sessions, change, export and delete them",
		Long: `A session keeps the files of /workspace from one of its jobs to the next: enqueue run --session NAME. These
commands see the files as the last job that ended left them. A session that is not used expires.`,
		Example: `  enqueue run --session plots step1.py && enqueue session files plots
  enqueue session write plots data.csv conf/app.ini=/etc/app.ini
  sort words | enqueue session write plots words.txt=-
  enqueue session read plots out/result.json | jq .
  enqueue session export plots -o plots.tar.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.tenant, "tenant", "", "`NAME` on whose behalf the session's jobs run")
	cmd.AddCommand(
		newSessionListCommand(a, f), newSessionShowCommand(a, f), newSessionFilesCommand(a, f), newSessionReadCommand(a, f),
		newSessionWriteCommand(a, f), newSessionExportCommand(a, f), newSessionDeleteCommand(a, f),
	)
	return cmd
}

// addJSON adds --json to those commands that print something.
func (f *sessionFlags) addJSON(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&f.asJSON, "json", false, usage)
}

// sessionArgs checks arguments of which the first is a session's name.
func sessionArgs(least, most int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return errors.New("want " + want)
		}
		return workspace.CheckName(args[0])
	}
}

func (f *sessionFlags) named(name string) workspace.Session {
	return workspace.Session{Tenant: f.tenant, Name: name}
}

// withSessions reads the configuration, connects and calls do.
func (a *app) withSessions(cmd *cobra.Command, do func(context.Context, *settings, *workspace.Store) error) error {
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	keys, err := cli.ProducerKeys(s.config.Jobs)
	if err != nil {
		return err
	}
	rdb, err := cli.Connect(cmd.Context(), s.config, poolSize)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	sessions := s.config.Sessions
	return sessionError(do(cmd.Context(), s, workspace.New(rdb, workspace.Options{
		Prefix: s.config.Redis.Prefix, Quota: int64(sessions.Quota), MaxFiles: sessions.MaxFiles, Expiry: sessions.Expiry,
		Keys: keys.Seal,
	})))
}

// sessionError says what to do about an error.
func sessionError(err error) error {
	var quota *workspace.QuotaError
	switch {
	case errors.As(err, &quota), errors.Is(err, workspace.ErrInvalid):
		return usageError(err)
	case errors.Is(err, workspace.ErrNotFound):
		return fmt.Errorf("%w: it never was, expired, or is of another --tenant", err)
	case errors.Is(err, workspace.ErrBusy):
		return fmt.Errorf("%w: try again, or wait longer with --wait", err)
	}
	return err
}

// quoted shows a file's name, which may hold anything, in quotes if it has something that would not be seen as it is.
func quoted(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
