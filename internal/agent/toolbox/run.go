package toolbox

import (
	"context"
	"errors"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/explain"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// commandLanguage runs the argv of run_command.
const commandLanguage = "bash"

// commandFile is where the one line lies that becomes the command, out of the way of what `ls` shows.
const commandFile = ".sandloop/command.sh"

// becomeCommand is the same for all commands: no text of the model is ever read by a shell.
const becomeCommand = `exec -- "$@"` + "\n"

// runTools are the tools that run something and wait for it.
func (t *Toolbox) runTools() []tool {
	var tools []tool
	if t.isLive() {
		tools = append(tools, newTool("run_code", t.describeRunCode(), t.codeArguments,
			func(ctx context.Context, a runLiveArguments, progress func(agent.Progress)) agent.ToolResult {
				return t.runCode(ctx, a.runCodeArguments, a.Restart, progress)
			}))
	} else {
		tools = append(tools, newTool("run_code", t.describeRunCode(), t.codeArguments,
			func(ctx context.Context, a runCodeArguments, progress func(agent.Progress)) agent.ToolResult {
				return t.runCode(ctx, a, false, progress)
			}))
	}
	if _, err := t.options.Languages.Lookup(commandLanguage); err == nil {
		tools = append(tools, newTool("run_command", t.describeRunCommand(), all(timed(t.options.MaxTimeout), notEmpty("argv")), t.runCommand))
	}
	return tools
}

func (t *Toolbox) isLive() bool { return t.options.Live && t.options.Session != "" }

// liveLanguages are those that have a live interpreter.
var liveLanguages = map[string]bool{"python": true, "node": true}

func (t *Toolbox) runCode(ctx context.Context, a runCodeArguments, restart bool, progress func(agent.Progress)) agent.ToolResult {
	language, err := t.options.Languages.Lookup(a.Language)
	if err != nil {
		return t.result(ctx, work{language: a.Language}, jobs.Record{Result: refusal(err)})
	}
	a.Language = language.Name
	program, err := a.program()
	if err != nil {
		return problemf("nothing was run: %v. Call again with that repaired", err)
	}
	program.Limits = t.limits(a.Timeout, t.options.Timeout)
	w := work{language: a.Language, live: t.isLive() && liveLanguages[a.Language], files: a.Files}
	if restart && !w.live {
		return problemf("nothing was run: %s has no live interpreter that could be started anew. Call again without restart", a.Language)
	}
	return t.run(ctx, w, t.job(w, program, restart), progress)
}

// refusal is the result of a job that a worker would refuse.
func refusal(err error) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: err.Error()}
}

func (t *Toolbox) runCommand(ctx context.Context, a runCommandArguments, progress func(agent.Progress)) agent.ToolResult {
	program := sandbox.Program{
		Language: commandLanguage, Source: sandbox.Bytes(becomeCommand), Main: commandFile,
		Args: a.Argv, Stdin: sandbox.Bytes(a.Stdin), Limits: t.limits(a.Timeout, t.options.Timeout),
	}
	w := work{language: commandLanguage, argv: a.Argv}
	return t.run(ctx, w, t.job(w, program, false), progress)
}

// work is what a job is about, as far as its result does not say it.
type work struct {
	language string
	argv     []string
	live     bool
	files    []fileArgument
}

// pictures are the files that a model gets to see without asking.
var pictures = []string{"**/*.png", "**/*.jpg", "**/*.jpeg", "**/*.gif", "**/*.webp"}

// job is the job of a program. Without a session its pictures come back with the result; with one they are files of
// the session.
func (t *Toolbox) job(w work, program sandbox.Program, restart bool) jobs.Job {
	job := jobs.Job{Tenant: t.options.Tenant, Queue: t.options.Queue, Program: program}
	if t.options.Session != "" {
		job.Session = &jobs.Session{Name: t.options.Session, Live: w.live, Restart: restart}
	} else {
		job.Program.Outputs = pictures
	}
	return job
}

// run hands in a job and waits for what becomes of it.
func (t *Toolbox) run(ctx context.Context, w work, job jobs.Job, progress func(agent.Progress)) agent.ToolResult {
	if job.Session != nil {
		if id := t.unfinished(ctx); id != "" {
			return problemf("nothing was run: the job %s has the workspace until it ends. Call wait_job or cancel_job with its id before", id)
		}
		if !t.takeTurn(ctx, progress) {
			return problemf("canceled before it ran, since the run was ended")
		}
		defer func() { <-t.turn }()
	}
	job.Follow = progress != nil
	id, problem := t.submit(ctx, job)
	if problem != nil {
		return *problem
	}
	result := t.outcome(ctx, w, id, progress)
	result.JobID = id
	return result
}

// takeTurn waits until no other call uses the session, unless ctx ends before.
func (t *Toolbox) takeTurn(ctx context.Context, progress func(agent.Progress)) bool {
	select {
	case t.turn <- struct{}{}:
		return true
	default:
		newRelay("", progress).state("waiting for another call in the session")
	}
	select {
	case t.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// outcome waits for a job, and cancels it when nobody waits any more.
func (t *Toolbox) outcome(ctx context.Context, w work, id string, progress func(agent.Progress)) agent.ToolResult {
	waiting := t.watch(ctx, id, progress)
	defer waiting.end()
	record, err := waiting.wait(ctx)
	if err == nil {
		return t.result(ctx, w, record)
	}
	var gone *goneError
	if errors.As(err, &gone) {
		return problemf("%s", gone.advice)
	}
	t.cancel(ctx, id)
	record, known := waiting.linger(ctx)
	switch {
	case known && (ctx.Err() != nil || record.Result.Outcome != sandbox.OutcomeCanceled):
		return t.result(ctx, w, record) // what there is of it, or all: it was faster than the cancel
	case ctx.Err() != nil:
		return problemf("canceled, since the run was ended: nothing more of the job %s is known", id)
	}
	return problemf("%s. The job was canceled", err.Error())
}

// result puts a record into words, with its figures.
func (t *Toolbox) result(ctx context.Context, w work, record jobs.Record) agent.ToolResult {
	call := explain.Call{Language: w.language, Argv: w.argv, Live: w.live, Result: record.Result, Session: record.Session}
	description := explain.Describe(call, t.options.Budget)
	images, lines := t.figures(ctx, w, record)
	for _, line := range lines {
		if description.Output != "" {
			description.Output += "\n"
		}
		description.Output += line
	}
	failed := description.Has(explain.OurFailure) || description.Has(explain.Canceled) ||
		description.Has(explain.UnknownLanguage) || description.Has(explain.Rejected)
	return agent.ToolResult{Text: description.String(), IsError: failed, Images: images, JobID: record.JobID}
}
