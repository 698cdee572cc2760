package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// sessionPatience outlasts a job with the default limits.
const sessionPatience = time.Minute

// sessionWait is --wait: how long a command waits for the job that has the session.
type sessionWait struct{ limit *sandbox.Seconds }

func (w *sessionWait) add(flags *pflag.FlagSet) {
	flags.Var(&optional[sandbox.Seconds]{&w.limit, "TIME", parseTime}, "wait", "how long to wait while a job has the session (default: 1m)")
}

func (w *sessionWait) duration() time.Duration {
	if w.limit == nil {
		return sessionPatience
	}
	return w.limit.Duration()
}

func newSessionWriteCommand(a *app, f *sessionFlags) *cobra.Command {
	var wait sessionWait
	cmd := &cobra.Command{
		Use: "write NAME [DEST=]PATH...", Short: "Put files into a session, and make one that does not exist",
		Long: `write puts files and folders into a session, all of them or none. One that is there already is replaced. A
path below the current folder keeps its place; of another the last element counts, unless DEST= says otherwise.
DEST=- is the standard input. While a job has the session, write waits.`,
		Args: sessionArgs(2, math.MaxInt, "the name of a session and files to put into it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd, func(ctx context.Context, s *settings, store *workspace.Store) error {
				files, err := a.collectFiles(ctx, args[1:], int64(s.config.Sessions.Quota))
				if err != nil {
					return err
				}
				head, err := store.Write(ctx, f.named(args[0]), files, nil, wait.duration())
				if err != nil {
					return err
				}
				return a.sessionChanged(f, head)
			})
		},
	}
	wait.add(cmd.Flags())
	f.addJSON(cmd, "print what is known of the session then as a JSON object")
	return cmd
}

// collectFiles reads the files that arguments name, up to a total size.
func (a *app) collectFiles(ctx context.Context, specs []string, limit int64) ([]sandbox.File, error) {
	collect := &collector{flag: "PATH", most: "a session may hold", left: limit}
	for _, spec := range specs {
		dest, name, given := strings.Cut(spec, "=")
		switch {
		case spec == "-":
			return nil, usagef("-: want DEST=-, since the standard input has no name")
		case given && name == "-":
			data, err := cli.Read(ctx, name, a.stdin, collect.left)
			if errors.Is(err, cli.ErrTooLarge) {
				return nil, usagef("PATH %s: with it the files are larger than %s", spec, collect.most)
			}
			if err != nil {
				return nil, err
			}
			collect.left -= int64(len(data))
			collect.files = append(collect.files, sandbox.File{Path: dest, Data: data})
		default:
			if err := collect.add(spec); err != nil {
				return nil, usageError(err)
			}
		}
	}
	return collect.files, nil
}

// sessionChanged tells what a change came to.
func (a *app) sessionChanged(f *sessionFlags, head workspace.Head) error {
	if f.asJSON {
		return a.printJSON(head)
	}
	say(a.stderr, "session %s has %d files of %s, version %d", head.Name, head.Files, countedSize(head.Bytes), head.Version)
	return nil
}

func newSessionDeleteCommand(a *app, f *sessionFlags) *cobra.Command {
	var wait sessionWait
	cmd := &cobra.Command{
		Use: "delete NAME [PATH...]", Short: "Delete a session, or some of its files",
		Long: `delete removes a session at once: a job that has it fails to keep its files, and its live interpreter ends. With
paths it removes those files and folders alone, and waits while a job has the session.`,
		Args: sessionArgs(1, math.MaxInt, "the name of a session, or also paths of files in it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				session := f.named(args[0])
				if len(args) == 1 {
					return store.Delete(ctx, session)
				}
				if _, err := store.Info(ctx, session); err != nil { // Write would make one
					return err
				}
				head, err := store.Write(ctx, session, nil, args[1:], wait.duration())
				if err != nil {
					return err
				}
				return a.sessionChanged(f, head)
			})
		},
	}
	wait.add(cmd.Flags())
	f.addJSON(cmd, "with paths: print what is known of the session then as a JSON object")
	return cmd
}
