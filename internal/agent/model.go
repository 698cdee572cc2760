package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model is a provider of turns: an adapter to one, or a script.
type Model interface {
	// NextTurn asks the model what it says after a transcript, which it must not change. text, if not nil, is called
	// with pieces of the answer as they come, from one goroutine. A failure of the provider is a *[ProviderError]; any
	// pieces that came before it are then void. When ctx ends the error wraps its cause.
	NextTurn(ctx context.Context, transcript *Transcript, tools []ToolSpec, text func(piece string)) (AssistantTurn, error)
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schema is the JSON Schema of the arguments, an object.
	Schema json.RawMessage `json:"schema"`
}

// AssistantTurn is what a model said.
type AssistantTurn struct {
	Text   string
	Calls  []ToolCall
	Finish Finish
	// Usage is this turn's alone.
	Usage Usage
	// Model is who answered, as the provider names it.
	Model string
	// Opaque is as Message.Opaque.
	Opaque json.RawMessage
}

// Finish is why a model stopped speaking.
type Finish string

// The reasons.
const (
	// FinishDone means that the turn is whole, with or without calls.
	FinishDone Finish = "done"
	// FinishLength means that the limit of tokens of a turn cut it; its last call may be cut too.
	FinishLength Finish = "length"
	// FinishRefusal means that the model or a filter of the provider declined.
	FinishRefusal Finish = "refusal"
	// FinishPause means that the provider wants to be asked again with what there is so far.
	FinishPause Finish = "pause"
)

// ProviderError is a failure of a provider.
type ProviderError struct {
	Kind ProviderErrorKind
	// Status is that of HTTP, 0 if there was no answer.
	Status int
	// RetryAfter is what the provider asked for, 0 if nothing.
	RetryAfter time.Duration
	// Message is the provider's own, without the request, headers or keys.
	Message string
	Err     error
}

// ProviderErrorKind tells what can be done about a ProviderError.
type ProviderErrorKind string

// The kinds. The first four are worth another try.
const (
	RateLimited ProviderErrorKind = "rate limit"
	Overloaded  ProviderErrorKind = "overloaded"
	Unreachable ProviderErrorKind = "unreachable"
	CutStream   ProviderErrorKind = "answer was cut"
	BadKey      ProviderErrorKind = "key not accepted"
	BadRequest  ProviderErrorKind = "request not accepted"
)

// Temporary tells whether the same request may succeed later.
func (e *ProviderError) Temporary() bool {
	return e.Kind == RateLimited || e.Kind == Overloaded || e.Kind == Unreachable || e.Kind == CutStream
}

func (e *ProviderError) Error() string {
	text := "model provider: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func (e *ProviderError) Unwrap() error { return e.Err }
