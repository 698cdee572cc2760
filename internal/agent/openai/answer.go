package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// answer grows with the pieces of a stream.
type answer struct {
	text func(string)

	said, refusal strings.Builder
	thoughts      thoughts
	calls         calls
	model         string
	stop          string
	usage         agent.Usage
}

func newAnswer(text func(string)) *answer {
	if text == nil {
		text = func(string) {}
	}
	return &answer{text: text}
}

func (a *answer) add(piece chunk) {
	if piece.Model != "" {
		a.model = piece.Model
	}
	if u := piece.Usage; u != nil {
		// The sum so far, or at the end that of all. What came from the cache or went there is part of the prompt.
		cached, written := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
		a.usage = agent.Usage{
			Input: max(u.PromptTokens-cached-written, 0), Output: u.CompletionTokens, CacheRead: cached, CacheWrite: written,
		}
	}
	if len(piece.Choices) == 0 {
		return
	}
	first := piece.Choices[0] // no more than one was asked for
	if first.FinishReason != "" && first.FinishReason != "error" {
		a.stop = first.FinishReason
	}
	a.say(&a.said, first.Delta.Content)
	a.say(&a.refusal, first.Delta.Refusal)
	a.thoughts.ReasoningContent += first.Delta.ReasoningContent
	a.thoughts.Reasoning += first.Delta.Reasoning
	for _, f := range first.Delta.ToolCalls {
		a.calls.add(f)
	}
}

func (a *answer) say(to *strings.Builder, piece string) {
	if piece != "" {
		to.WriteString(piece)
		a.text(piece)
	}
}

// turn is the whole answer to a request for a model.
func (a *answer) turn(asked string, transcript *agent.Transcript) (agent.AssistantTurn, error) {
	turn := agent.AssistantTurn{
		Text: a.said.String() + a.refusal.String(), Calls: a.calls.finish(transcript),
		Finish: finish(a.stop), Model: a.model, Usage: a.usage,
	}
	if provider.Blank(turn.Text) {
		turn.Text = "" // what some templates leave between thoughts and calls
	}
	if a.refusal.Len() > 0 {
		turn.Finish = agent.FinishRefusal
	}
	var err error
	turn.Opaque, err = a.thoughts.keep(asked)
	return turn, err
}

func finish(reason string) agent.Finish {
	switch reason {
	case "length", "insufficient_system_resource":
		return agent.FinishLength
	case "content_filter":
		return agent.FinishRefusal
	}
	return agent.FinishDone
}

// thoughts are what a model thought before it spoke. Some models want them back while they call tools.
type thoughts struct {
	Provider string `json:"provider"`
	// Model is the one that was asked; no other gets its thoughts.
	Model            string `json:"model"`
	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
}

// keep returns what a transcript keeps of the thoughts, nil if there are none.
func (t thoughts) keep(asked string) (json.RawMessage, error) {
	if t.ReasoningContent == "" && t.Reasoning == "" {
		return nil, nil
	}
	t.Provider, t.Model = Name, asked
	kept, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("keep thoughts of %s: %w", asked, err)
	}
	return kept, nil
}

// recall returns the thoughts of a turn of this model under the names that the server gave them, nil if there are none.
func (m *Model) recall(kept json.RawMessage) map[string]any {
	var t thoughts
	if len(kept) == 0 || json.Unmarshal(kept, &t) != nil || t.Provider != Name || t.Model != m.model {
		return nil
	}
	fields := map[string]any{}
	if t.ReasoningContent != "" {
		fields["reasoning_content"] = t.ReasoningContent
	}
	if t.Reasoning != "" {
		fields["reasoning"] = t.Reasoning
	}
	return fields
}
