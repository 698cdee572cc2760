package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// emptyWorkspace tells a model that a run which is resumed lost its files.
const emptyWorkspace = "[The files and variables of the run so far are not kept any more: the workspace is empty.]"

// run reads what the command line names, connects and has the model work.
func (f *runFlags) run(cmd *cobra.Command, a *app, args []string) error {
	ctx := cmd.Context()
	if err := f.check(); err != nil {
		return err
	}
	task, err := f.source.read(ctx, a, args)
	if err != nil {
		return err
	}
	resumed, err := f.load()
	if err != nil {
		return err
	}
	model, err := f.model.choose(a.getenv)
	if err != nil {
		return err
	}
	if task == "" && resumed == nil {
		task = model.task
	}
	if task == "" && resumed == nil {
		return cli.Usagef("there is no task: give it in quotes, as - for standard input, or with --task-file")
	}
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	defer s.traces.Close(ctx)
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return f.solve(ctx, a, &work{settings: s, connection: c, model: model, task: task, resumed: resumed})
}

// load reads the transcript to go on with, nil if there is none.
func (f *runFlags) load() (*agent.Transcript, error) {
	if f.resume == "" {
		return nil, nil
	}
	t, err := agent.LoadTranscript(f.resume)
	if err != nil {
		return nil, cli.Usagef("--resume: %w", err)
	}
	f.session.resume(t)
	if err := f.session.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// work is what a run starts from.
type work struct {
	*settings
	*connection
	model   *chosen
	task    string
	resumed *agent.Transcript
}

// solve has the model work and ends what it began.
func (f *runFlags) solve(ctx context.Context, a *app, w *work) error {
	open := f.session.open(w.connection)
	if err := w.tellLoss(ctx, open); err != nil {
		return err
	}
	tools := f.session.tools(w.settings, w.connection, open)
	defer tools.Close()
	r := &solving{
		flags: f, tools: tools, session: open, audience: f.audience(a),
		keeper: &keeper{path: f.transcript, provider: w.model.provider, session: open.Name},
	}
	defer r.audience.close()
	defer whenDone(ctx, func() { r.audience.note("ending the run, its jobs are canceled (Ctrl-C again leaves at once)") })()
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	transcript, err := agent.Run(running, w.task, w.model, agent.Options{
		Tools: tools, Resume: w.resumed,
		MaxIterations: f.iterations, WallTime: f.timeout, MaxTokens: f.tokens,
		Observer: func(e agent.Event) {
			if err := r.hear(e); err != nil {
				cancel(err)
			}
		},
	})
	if err != nil {
		return err
	}
	return r.finish(ctx, transcript)
}

// tellLoss adds to the task that the workspace of a resumed run is gone, if it is.
func (w *work) tellLoss(ctx context.Context, s *session) error {
	if w.resumed == nil {
		return nil
	}
	there, err := s.exists(ctx)
	if err == nil && !there {
		w.task = strings.TrimSpace(emptyWorkspace + "\n" + w.task)
	}
	return err
}

func (f *runFlags) audience(a *app) audience {
	switch {
	case f.asJSON:
		return &events{app: a}
	case f.quiet:
		return &answer{app: a}
	}
	return newView(a.stdout, a.stderr, a.getenv)
}

// whenDone calls do once when ctx ends. The function it returns makes sure that do is neither running nor to come.
func whenDone(ctx context.Context, do func()) func() {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		do()
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}
