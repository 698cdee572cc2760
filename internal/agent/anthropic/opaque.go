package anthropic

import (
	"encoding/json"
	"fmt"
)

// The types of parts of a turn.
const (
	typeText     = "text"
	typeCall     = "tool_use"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
)

// part is a piece of a turn, in the order in which the model made them. Of a call only the id is kept: its arguments are
// the transcript's.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// opaque is what a turn with thoughts leaves in a transcript.
type opaque struct {
	Provider string `json:"provider"`
	// Model is the one that was asked; no other can use its thoughts.
	Model string `json:"model"`
	Parts []part `json:"parts"`
}

// keep returns what must be kept of a turn beside its text and calls: nothing, if there is no more to it.
func keep(model string, parts []part) (json.RawMessage, error) {
	for _, p := range parts {
		if p.Type == typeThinking || p.Type == typeRedacted {
			kept, err := json.Marshal(opaque{Provider: Name, Model: model, Parts: parts})
			if err != nil {
				return nil, fmt.Errorf("keep thoughts of %s: %w", model, err)
			}
			return kept, nil
		}
	}
	return nil, nil
}

// recall returns the parts of a turn of this model, nil if there are none or it was another's.
func (m *Model) recall(kept json.RawMessage) []part {
	var turn opaque
	if len(kept) == 0 || json.Unmarshal(kept, &turn) != nil || turn.Provider != Name || turn.Model != m.model {
		return nil
	}
	return turn.Parts
}
