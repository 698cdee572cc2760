package main

import (
	"context"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/top"
)

const (
	// topEvery is how often the figures are read.
	topEvery = time.Second
	// topPatience bounds one look at Redis.
	topPatience = 3 * time.Second
)

// topHelp is what --help says of top.
const topHelp = `top shows queues, the tenants of the selected queue, and workers, every second:

  WAITING, RUNNING, RETRY  jobs that wait for a slot, have one, wait for another attempt
  DEAD     jobs that were given up: enqueue dead list
  OLDEST   for how long the first job waits
  TAKEN/S  jobs that got a slot
  HELD     the tenant's quota lets nothing of it start now
  SLOTS    of a worker: busy and all, those for interactive jobs and for sessions included
  JOBS/S   results that a worker stored

Keys: q quits, ↑ and ↓ select a queue, s changes the order of tenants and workers. When Redis does not answer,
top says so and goes on trying.

With --once, or when standard output is no terminal, it looks twice, a second apart so that rates are known, and prints
the figures as text; with --json as one JSON object.`

// topFlags are what a command line says about top.
type topFlags struct {
	once, asJSON bool
	sort         string
}

func newTopCommand(a *app) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use: "top", Short: "Watch queues, tenants and workers", Long: topHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sort, err := top.ParseSort(f.sort)
			if err != nil {
				return usagef("--%w", err)
			}
			if f.once || f.asJSON || !cli.IsTerminal(a.stdout) {
				return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
					return a.topOnce(ctx, client, sort, f.asJSON)
				})
			}
			s, err := a.settings(cmd)
			if err != nil {
				return err
			}
			return a.topLive(cmd.Context(), s, sort)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.once, "once", false, "print the figures once, as text")
	flags.BoolVar(&f.asJSON, "json", false, "print them once, as a JSON object")
	flags.StringVar(&f.sort, "sort", string(top.ByLoad), "`ORDER` of tenants and workers: load, name or rate")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions( // fails only without the flag
		[]cobra.Completion{string(top.ByLoad), string(top.ByName), string(top.ByRate)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// topOnce prints the figures.
func (a *app) topOnce(ctx context.Context, client *jobs.Client, sort top.Sort, asJSON bool) error {
	first, err := readTop(ctx, client)
	if err != nil {
		return err
	}
	select {
	case <-time.After(topEvery):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	second, err := readTop(ctx, client)
	if err != nil {
		return err
	}
	rated := second.Since(first)
	if asJSON {
		return a.printJSON(rated)
	}
	if _, err := io.WriteString(a.stdout, top.Plain(rated, sort)); err != nil {
		return &cli.OutputError{Err: err}
	}
	return nil
}

// topLive shows the figures until somebody quits. Redis need not be there, not even at the beginning.
func (a *app) topLive(ctx context.Context, s *settings, sort top.Sort) error {
	ctx, stop := context.WithCancel(ctx)
	source := &topSource{settings: s}
	shown := tea.NewProgram(top.NewModel(func() (top.Snapshot, error) { return source.read(ctx) }, topEvery, sort),
		tea.WithContext(ctx), tea.WithInput(a.stdin), tea.WithOutput(a.stdout), tea.WithoutSignalHandler())
	_, err := shown.Run()
	interrupted := context.Cause(ctx)
	stop() // or a look at Redis would go on
	source.close()
	if interrupted != nil {
		return interrupted
	}
	return err
}

// topSource reads the figures, and connects when it has to.
type topSource struct {
	settings *settings

	mu     sync.Mutex // held while it reads
	client *jobs.Client
	end    func()
}

func (s *topSource) read(ctx context.Context) (top.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, topPatience)
	defer cancel()
	if ctx.Err() != nil {
		return top.Snapshot{}, context.Cause(ctx)
	}
	if s.client == nil {
		client, end, err := s.settings.connect(ctx)
		if err != nil {
			return top.Snapshot{}, err
		}
		s.client, s.end = client, end
	}
	return readTop(ctx, s.client)
}

// close waits for a look that is under way. Looks whose context has ended connect no more.
func (s *topSource) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
}

// readTop reads the figures once.
func readTop(ctx context.Context, client *jobs.Client) (top.Snapshot, error) {
	stats, err := client.Stats(ctx)
	if err != nil {
		return top.Snapshot{}, err
	}
	snapshot := top.Snapshot{At: time.Now(), Workers: []top.Worker{}}
	for _, queue := range stats.Queues {
		tenants, err := client.Tenants(ctx, queue.Queue)
		if err != nil {
			return top.Snapshot{}, err
		}
		snapshot.Queues = append(snapshot.Queues, top.Queue{QueueStats: queue, PerTenant: tenants})
	}
	for _, worker := range stats.Workers {
		snapshot.Workers = append(snapshot.Workers, top.Worker{WorkerInfo: worker})
	}
	return snapshot, nil
}
