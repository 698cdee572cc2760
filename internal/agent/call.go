package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// call runs the calls of a turn side by side. At the last turn that the run may have there is nobody to hear of
// results, so they are not run.
func (r *run) call(ctx context.Context, calls []ToolCall) (Stop, string) {
	if r.turn == r.options.MaxIterations {
		r.answer(unrun(calls, "Not run, since the run has no further turn to use the result in."))
		return "", ""
	}
	results := make([]ToolResult, len(calls))
	slots := make(chan struct{}, r.options.MaxParallel)
	var all sync.WaitGroup
	for i, call := range calls {
		slots <- struct{}{}
		r.tell(Event{Kind: EventCall, Call: &call}) // here, so that they begin in their order
		all.Go(func() {
			defer func() { <-slots }()
			results[i] = r.one(ctx, call)
		})
	}
	all.Wait()
	if r.turn == r.options.MaxIterations-1 {
		results[len(results)-1].Text += "\n\n[The next turn is the last one: answer in it, no further call will be run.]"
	}
	r.answer(results)
	return "", ""
}

// answer puts the results of all calls of the last turn into the transcript.
func (r *run) answer(results []ToolResult) {
	r.transcript.add(Message{Role: RoleTool, Results: results})
	r.tell(Event{Kind: EventResultsDone, Transcript: r.transcript})
}

// one runs a call. Its result answers that call, whatever the tool says.
func (r *run) one(ctx context.Context, call ToolCall) ToolResult {
	begun := time.Now()
	result := r.safely(ctx, call)
	result.CallID, result.Name, result.Duration = call.ID, call.Name, time.Since(begun)
	result.Text = shorten(result.Text, r.options.ResultLimit)
	r.tell(Event{Kind: EventResult, Call: &call, Result: &result})
	return result
}

// safely runs a call that has a tool and arguments, and turns a panic of the tool into a result.
func (r *run) safely(ctx context.Context, call ToolCall) (result ToolResult) {
	defer func() {
		if problem := recover(); problem != nil {
			result = ToolResult{IsError: true, Text: fmt.Sprintf("The tool %s failed in itself (%v). This is not your doing; try once more, or do without it.", call.Name, problem)}
		}
	}()
	if ctx.Err() != nil {
		return ToolResult{IsError: true, Text: "Not run, since the run was ended."}
	}
	if problem := r.check(&call); problem != "" {
		return ToolResult{IsError: true, Text: problem}
	}
	return r.options.Tools.Call(ctx, call, func(p Progress) { r.tell(Event{Kind: EventProgress, Call: &call, Progress: &p}) })
}

// check says what is wrong with a call before any tool sees it.
func (r *run) check(call *ToolCall) string {
	names := make([]string, len(r.specs))
	known := false
	for i, spec := range r.specs {
		names[i] = spec.Name
		known = known || spec.Name == call.Name
	}
	switch {
	case !known && len(names) == 0:
		return fmt.Sprintf("There is no tool %q, nor any other: answer without tools.", call.Name)
	case !known:
		return fmt.Sprintf("There is no tool %q. The tools are %s.", call.Name, strings.Join(names, ", "))
	}
	if strings.TrimSpace(call.Arguments) == "" {
		call.Arguments = "{}"
	}
	var object map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader([]byte(call.Arguments)))
	if err := decoder.Decode(&object); err != nil || object == nil {
		return fmt.Sprintf("The arguments of %s are not a JSON object (%s). Call it again with an object such as its schema describes.", call.Name, explain(err))
	}
	if rest := strings.TrimSpace(call.Arguments[decoder.InputOffset():]); rest != "" {
		return fmt.Sprintf("Something follows the JSON object in the arguments of %s: %.80q. Call it again with the object alone.", call.Name, rest)
	}
	return ""
}

func explain(err error) string {
	if err == nil {
		return "they are null"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// shorten leaves out the middle of a text of more than limit bytes and says so.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*2/3, len(text)-limit/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", text[:head], tail-head, text[tail:])
}

// noTools is for a run without tools.
type noTools struct{}

func (noTools) Specs() []ToolSpec { return nil }

func (noTools) Call(context.Context, ToolCall, func(Progress)) ToolResult {
	return ToolResult{IsError: true, Text: "There are no tools."}
}
