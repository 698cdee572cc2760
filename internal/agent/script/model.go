package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/sandloop/sandloop/internal/agent"
)

// Name is that of the provider and the model.
const Name = "script"

// Model says the turns of a script. It is safe for concurrent use, and for one run.
type Model struct {
	script *Script

	mu     sync.Mutex
	next   int // index of the turn to say
	failed int // failures of it that were played
}

// NewModel returns a Model that begins with the first turn.
func NewModel(s *Script) *Model { return &Model{script: s} }

// NextTurn says the next turn, or plays its next failure. A turn whose expectations are not met, and one more than
// there are, is an error that says so.
func (m *Model) NextTurn(ctx context.Context, transcript *agent.Transcript, _ []agent.ToolSpec, text func(string)) (agent.AssistantTurn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return agent.AssistantTurn{}, context.Cause(ctx)
	}
	if m.next == len(m.script.Turns) {
		return agent.AssistantTurn{}, refused("the script has no turn after its %d", m.next)
	}
	turn := m.script.Turns[m.next]
	if missing := turn.unmet(transcript); missing != "" {
		return agent.AssistantTurn{}, refused("line %d: turns[%d].expect: %q is in none of the results before it", turn.line, m.next, missing)
	}
	if m.failed < len(turn.Fail) {
		failure := turn.Fail[m.failed]
		m.failed++
		return agent.AssistantTurn{}, &agent.ProviderError{Kind: failure.Kind, RetryAfter: failure.RetryAfter, Message: "played by the script"}
	}
	m.next++
	m.failed = 0
	return turn.say(m.next, text)
}

func refused(format string, args ...any) error {
	return &agent.ProviderError{Kind: agent.BadRequest, Message: fmt.Sprintf(format, args...)}
}

// unmet is the first text that the turn expects and no result has.
func (t Turn) unmet(transcript *agent.Transcript) string {
	var results []agent.ToolResult
	if n := len(transcript.Messages); n > 0 {
		results = transcript.Messages[n-1].Results
	}
	for _, want := range t.Expect {
		met := false
		for _, result := range results {
			met = met || strings.Contains(result.Text, want)
		}
		if !met {
			return want
		}
	}
	return ""
}

// say makes the turn with the given number.
func (t Turn) say(number int, text func(string)) (agent.AssistantTurn, error) {
	if text != nil {
		for _, word := range strings.SplitAfter(t.Say, " ") {
			if word != "" {
				text(word)
			}
		}
	}
	turn := agent.AssistantTurn{Text: t.Say, Finish: agent.FinishDone, Model: Name}
	for i, call := range t.Calls {
		arguments, err := json.Marshal(call.Arguments)
		if err != nil {
			return agent.AssistantTurn{}, refused("line %d: calls[%d].arguments: %v", t.line, i, err)
		}
		if call.Arguments == nil {
			arguments = []byte("{}")
		}
		turn.Calls = append(turn.Calls, agent.ToolCall{ID: fmt.Sprintf("call-%d-%d", number, i+1), Name: call.Tool, Arguments: string(arguments)})
	}
	return turn, nil
}
