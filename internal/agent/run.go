package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// errWallTime is the cause with which a run's own time ends.
var errWallTime = errors.New("the time of the run is over")

// Run gives a model a task and runs the tools that it calls until it answers without a call, or a bound of the options
// is reached. Transcript.Stop and Problem say how it ended, whatever that was: a provider that fails after all retries,
// the end of ctx. The error is for wrong use alone: no model, or neither a task nor a transcript to go on with.
func Run(ctx context.Context, task string, model Model, options Options) (*Transcript, error) {
	switch {
	case model == nil:
		return nil, errors.New("run agent: there is no model")
	case strings.TrimSpace(task) == "" && (options.Resume == nil || len(options.Resume.Messages) == 0):
		return nil, errors.New("run agent: the task is empty")
	}
	options = options.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, options.WallTime, errWallTime)
	defer cancel()
	r := &run{model: model, options: options, specs: options.Tools.Specs(), transcript: begin(task, options)}
	stop, problem := r.loop(ctx)
	r.transcript.Stop, r.transcript.Problem = stop, problem
	r.tell(Event{Kind: EventEnd, Stop: stop, Problem: problem, Usage: &r.transcript.Usage, Transcript: r.transcript})
	return r.transcript, nil
}

// begin makes the transcript that a run starts from.
func begin(task string, options Options) *Transcript {
	t := &Transcript{System: options.System}
	if options.Resume != nil {
		*t = *options.Resume
		t.Messages = slices.Clone(t.Messages)
		t.Stop, t.Problem = "", ""
		if n := len(t.Messages); n > 0 && len(t.Messages[n-1].Calls) > 0 {
			t.add(Message{Role: RoleTool, Results: unrun(t.Messages[n-1].Calls, "The run was interrupted before this call had a result. Whether it was carried out is not known: look before you call it again.")})
		}
	}
	if strings.TrimSpace(task) != "" {
		t.add(Message{Role: RoleUser, Text: task})
	}
	return t
}

func (t *Transcript) add(m Message) {
	m.Time = time.Now().UTC()
	t.Messages = append(t.Messages, m)
}

// unrun answers calls that are not run.
func unrun(calls []ToolCall, why string) []ToolResult {
	results := make([]ToolResult, len(calls))
	for i, call := range calls {
		results[i] = ToolResult{CallID: call.ID, Name: call.Name, Text: why, IsError: true}
	}
	return results
}

// run is one call of Run.
type run struct {
	model      Model
	options    Options
	specs      []ToolSpec
	transcript *Transcript
	turn       int
	// silent counts answers in a row that said nothing.
	silent int

	telling sync.Mutex // held while the observer hears
}

func (r *run) tell(e Event) {
	r.telling.Lock()
	defer r.telling.Unlock()
	e.Time, e.Turn = time.Now().UTC(), r.turn
	r.options.Observer(e)
}

// loop alternates turns and calls until something ends the run.
func (r *run) loop(ctx context.Context) (Stop, string) {
	for r.turn < r.options.MaxIterations {
		if used := r.transcript.Usage.Total(); r.options.MaxTokens > 0 && used >= r.options.MaxTokens {
			return StopTokens, fmt.Sprintf("%d tokens were used, and the bound is %d", used, r.options.MaxTokens)
		}
		if ctx.Err() != nil {
			return r.ended(ctx)
		}
		r.turn++
		turn, err := r.ask(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return r.ended(ctx)
		case err != nil:
			return StopProvider, err.Error()
		}
		if stop, problem := r.take(ctx, turn); stop != "" {
			return stop, problem
		}
	}
	return StopIterations, fmt.Sprintf("the model did not come to an answer within the bound of turns, which is %d", r.options.MaxIterations)
}

// ended says why ctx ended.
func (r *run) ended(ctx context.Context) (Stop, string) {
	if errors.Is(context.Cause(ctx), errWallTime) {
		return StopTime, fmt.Sprintf("the run took longer than its bound of %s", r.options.WallTime)
	}
	return StopCanceled, fmt.Sprintf("the run was canceled: %v", context.Cause(ctx))
}

// take puts a turn into the transcript and does what it asks for. It returns how the run ends, or nothing.
func (r *run) take(ctx context.Context, turn AssistantTurn) (Stop, string) {
	r.transcript.Usage = r.transcript.Usage.Add(turn.Usage)
	if turn.Model != "" {
		r.transcript.Model = turn.Model
	}
	turn.Calls = distinct(turn.Calls)
	empty := strings.TrimSpace(turn.Text) == "" && len(turn.Calls) == 0
	if !empty || turn.Finish == FinishPause {
		r.transcript.add(Message{Role: RoleAssistant, Text: turn.Text, Calls: turn.Calls, Opaque: turn.Opaque})
	}
	r.tell(Event{Kind: EventTurnDone, Text: turn.Text, Usage: &turn.Usage, Transcript: r.transcript})
	if !empty {
		r.silent = 0
	}
	switch {
	case turn.Finish == FinishRefusal:
		if len(turn.Calls) > 0 {
			r.answer(unrun(turn.Calls, "Not run, since the turn ended in a refusal."))
		}
		return StopRefusal, "the model or its provider declined to go on"
	case turn.Finish == FinishPause:
		return "", ""
	case len(turn.Calls) > 0 && turn.Finish == FinishLength:
		r.answer(unrun(turn.Calls, "Not run, since your turn was cut at its limit of tokens and this call may not be whole. Make it shorter: fewer calls in a turn, less text, smaller files."))
	case len(turn.Calls) > 0:
		return r.call(ctx, turn.Calls)
	case empty && r.silent > 0:
		return StopProvider, "the model twice said nothing and called no tool"
	case empty:
		r.silent++
		r.transcript.add(Message{Role: RoleUser, Text: "You said nothing and called no tool. Go on with the task, or answer if it is done."})
	case turn.Finish == FinishLength:
		r.transcript.add(Message{Role: RoleUser, Text: "Your answer was cut at its limit of tokens. Go on from where it ended."})
	default:
		return StopAnswer, ""
	}
	return "", ""
}

// distinct gives every call an id that no other call of the turn has.
func distinct(calls []ToolCall) []ToolCall {
	seen := map[string]bool{}
	calls = slices.Clone(calls)
	for i := range calls {
		id := calls[i].ID
		for n := i + 1; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("%s-%d", cmp.Or(calls[i].ID, "call"), n)
		}
		calls[i].ID = id
		seen[id] = true
	}
	return calls
}
