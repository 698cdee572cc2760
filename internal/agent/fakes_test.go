package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// reply is what a fakeModel does at one request.
type reply struct {
	turn AssistantTurn
	text []string
	err  error
	// wait has it hang until ctx ends.
	wait bool
}

// fakeModel gives its replies in order and notes what it was shown.
type fakeModel struct {
	replies []reply
	shown   []Transcript
}

func (m *fakeModel) NextTurn(ctx context.Context, t *Transcript, _ []ToolSpec, text func(string)) (AssistantTurn, error) {
	copied := *t
	copied.Messages = append([]Message{}, t.Messages...)
	m.shown = append(m.shown, copied)
	if len(m.replies) == 0 {
		return AssistantTurn{}, errors.New("the fake has no more replies")
	}
	r := m.replies[0]
	m.replies = m.replies[1:]
	for _, piece := range r.text {
		text(piece)
	}
	if r.wait {
		<-ctx.Done()
		return AssistantTurn{}, fmt.Errorf("request: %w", context.Cause(ctx))
	}
	return r.turn, r.err
}

func says(text string) reply { return reply{turn: AssistantTurn{Text: text, Finish: FinishDone}} }

func calls(c ...ToolCall) reply { return reply{turn: AssistantTurn{Calls: c, Finish: FinishDone}} }

func echo(id, arguments string) ToolCall { return ToolCall{ID: id, Name: "echo", Arguments: arguments} }

// fakeTools has echo, which returns its argument x, and whatever tools says.
type fakeTools struct {
	tools map[string]func(ctx context.Context, call ToolCall, progress func(Progress)) ToolResult

	mu    sync.Mutex
	calls []ToolCall
}

func (f *fakeTools) Specs() []ToolSpec { return []ToolSpec{{Name: "echo"}, {Name: "other"}} }

func (f *fakeTools) Call(ctx context.Context, call ToolCall, progress func(Progress)) ToolResult {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	if tool := f.tools[call.Name]; tool != nil {
		return tool(ctx, call, progress)
	}
	var arguments struct{ X string }
	_ = json.Unmarshal([]byte(call.Arguments), &arguments)
	return ToolResult{CallID: "not the caller's", Text: "echo " + arguments.X}
}

// results are those of the n-th message.
func results(t *testing.T, transcript *Transcript, n int) []ToolResult {
	t.Helper()
	require.Greater(t, len(transcript.Messages), n)
	require.Equal(t, RoleTool, transcript.Messages[n].Role)
	return transcript.Messages[n].Results
}

// requireAnswered holds that each call has exactly one result, in order.
func requireAnswered(t *testing.T, transcript *Transcript) {
	t.Helper()
	for i, m := range transcript.Messages {
		if len(m.Calls) == 0 {
			continue
		}
		answered := results(t, transcript, i+1)
		require.Len(t, answered, len(m.Calls))
		for j, call := range m.Calls {
			require.Equal(t, call.ID, answered[j].CallID)
		}
	}
}
