package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/workspace"
)

func newSessionListCommand(a *app, f *sessionFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the sessions of a tenant", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				heads, err := store.List(ctx, f.tenant)
				if err != nil {
					return err
				}
				if f.asJSON {
					return printLines(a, heads)
				}
				return a.printSessions(heads)
			})
		},
	}
	f.addJSON(cmd, "print a line of JSON for each session")
	return cmd
}

func newSessionShowCommand(a *app, f *sessionFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Tell what is known of a session", Args: sessionArgs(1, 1, "the name of one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				head, err := store.Info(ctx, f.named(args[0]))
				if err != nil {
					return err
				}
				if f.asJSON {
					return a.printJSON(head)
				}
				return a.printSession(head)
			})
		},
	}
	f.addJSON(cmd, "print a JSON object")
	return cmd
}

// printLines prints a line of JSON for each value.
func printLines[T any](a *app, values []T) error {
	for _, value := range values {
		if err := a.printJSON(value); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printSessions(heads []workspace.Head) error {
	if len(heads) == 0 {
		say(a.stderr, "there are no sessions")
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SESSION\tVERSION\tFILES\tSIZE\tUSED\tEXPIRES\tSTATE")
	for _, head := range heads {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", head.Name, head.Version, head.Files, countedSize(head.Bytes),
			localTime(head.UsedAt), localTime(head.ExpiresAt), printable(sessionState(head)))
	}
	return table.Flush()
}

// sessionState says in a word or two what a session does.
func sessionState(head workspace.Head) string {
	var parts []string
	if head.Busy != nil {
		parts = append(parts, "runs "+head.Busy.Job)
	}
	if head.Live != nil {
		parts = append(parts, head.Live.Language+" lives")
	}
	if len(parts) == 0 {
		return "idle"
	}
	return strings.Join(parts, ", ")
}

func (a *app) printSession(head workspace.Head) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, printable(value))
		}
	}
	row("session", head.Name)
	row("tenant", head.Tenant)
	row("version", fmt.Sprint(head.Version))
	row("files", fmt.Sprint(head.Files))
	row("size", fmt.Sprintf("%s, %s as stored", countedSize(head.Bytes), countedSize(head.StoredBytes)))
	row("created", localTime(head.CreatedAt))
	row("used", localTime(head.UsedAt))
	row("expires", localTime(head.ExpiresAt))
	if head.Busy != nil {
		row("in use", fmt.Sprintf("by job %s on %s", head.Busy.Job, head.Busy.Owner))
	}
	if head.Live != nil {
		row("live", fmt.Sprintf("%s on worker %s since %s", head.Live.Language, head.Live.Worker, localTime(head.Live.Since)))
	}
	row("live ended", head.LiveEnded)
	return table.Flush()
}
