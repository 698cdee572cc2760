package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/toolbox"
	"github.com/sandloop/sandloop/internal/cli"
)

// solving is a run that goes on.
type solving struct {
	flags    *runFlags
	tools    *toolbox.Toolbox
	session  *session
	audience audience
	keeper   *keeper

	began        time.Time
	turns, calls int
	// unheard is why nobody hears of the run any more.
	unheard error
}

// hear passes an event on.
func (r *solving) hear(e agent.Event) error {
	switch e.Kind {
	case agent.EventTurn:
		r.turns = e.Turn
		if r.began.IsZero() {
			r.began = e.Time
		}
	case agent.EventCall:
		r.calls++
	}
	r.keeper.hear(e)
	if err := r.audience.hear(e); err != nil {
		r.unheard = err
	}
	return r.unheard
}

// finish brings the files, lets go of the session, and says how the run ended. Its error carries the exit code.
func (r *solving) finish(ctx context.Context, t *agent.Transcript) error {
	r.audience.note("%s", r.summary(t))
	keep := r.keeps(t)
	if !keep || t.Stop == agent.StopCanceled {
		r.tools.Abandon(ctx)
	}
	problems := []error{r.bring(ctx), r.letGo(ctx, t, keep)}
	if r.keeper.path != "" && r.keeper.failed == nil {
		r.audience.note("the transcript is in %s; agent --resume %s goes on with it", r.keeper.path, r.keeper.path)
	}
	problems = append(problems, r.keeper.failed)
	code := stopCode(t.Stop)
	switch err := errors.Join(problems...); {
	case r.unheard != nil:
		return errors.Join(r.unheard, err)
	case code != 0:
		return cli.ExitWith(code, errors.Join(fmt.Errorf("no answer: %s", t.Problem), err))
	default:
		return err
	}
}

// summary is what the run took.
func (r *solving) summary(t *agent.Transcript) string {
	text := fmt.Sprintf("%s with %s in %s", counted(r.turns, "turn"), counted(r.calls, "call"), seconds(time.Since(r.began)))
	if u := t.Usage; u.Total() > 0 {
		text += fmt.Sprintf("; tokens: %d in, %d out", u.Input+u.CacheRead+u.CacheWrite, u.Output)
		if u.CacheRead > 0 {
			text += fmt.Sprintf(" (%d of those in from the cache)", u.CacheRead)
		}
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bring writes the files of the session to where the user wants them.
func (r *solving) bring(ctx context.Context) error {
	if r.flags.out == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	files, err := r.session.files(ctx)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	err = r.flags.folder().Write(files, nil)
	r.audience.note("%s in the session, written to %s", counted(len(files), "file"), r.flags.out)
	return err
}

// keeps tells whether the session outlives the run: it was there before, somebody wants it, or the run can be resumed.
func (r *solving) keeps(t *agent.Transcript) bool {
	resumable := t.Stop != agent.StopAnswer && r.keeper.path != ""
	return !r.session.fresh || r.flags.keepSession || resumable
}

// letGo deletes a session that is not to be kept, and saves the transcript with what became of it.
func (r *solving) letGo(ctx context.Context, t *agent.Transcript, keep bool) error {
	if keep {
		return r.tellKept(ctx)
	}
	if err := r.session.delete(ctx); err != nil {
		return err
	}
	r.keeper.session = ""
	r.keeper.save(*t)
	return nil
}

// tellKept names the session that stays, if there is anything in it.
func (r *solving) tellKept(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	there, err := r.session.exists(ctx)
	if there {
		r.audience.note("the session %s is kept", r.session.Name)
	}
	return err
}
