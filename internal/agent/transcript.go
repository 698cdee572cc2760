package agent

import (
	"encoding/json"
	"time"
)

// Role tells who a message is from.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Transcript is all that was said in a run, in order. It can be kept as JSON and a run resumed from it. It
// holds no key and nothing of the environment.
type Transcript struct {
	// System is the instruction that stands before everything.
	System string `json:"system,omitempty"`
	// Provider and Model name who answered.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Session names the workspace that the tools worked in, empty if it is not kept. The caller of Run sets it.
	Session  string    `json:"session,omitempty"`
	Messages []Message `json:"messages"`
	// Usage sums that of all turns of the model.
	Usage Usage `json:"usage,omitzero"`
	// Stop is why the run ended; empty while it runs. Problem says more about it, in a sentence for people.
	Stop    Stop   `json:"stop,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Message is a task of the user, a turn of the model or the results of its calls.
type Message struct {
	Role Role      `json:"role"`
	Time time.Time `json:"time,omitzero"`
	// Text is what the user or the model said.
	Text string `json:"text,omitempty"`
	// Calls are those of a turn of the model; Results answer them all, in the same order, in the message after it.
	Calls   []ToolCall   `json:"calls,omitempty"`
	Results []ToolResult `json:"results,omitempty"`
	// Opaque is what the provider of the turn wants to have back as it was, such as signed thoughts. Only the
	// adapter whose name is in Transcript.Provider reads it.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// ToolCall is a wish of the model to have a tool run.
type ToolCall struct {
	// ID is the provider's, or made by the adapter for one that gives none.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is what the model wrote: mostly a JSON object, and possibly no JSON at all, as text.
	Arguments string `json:"arguments"`
}

// ToolResult is what the model is told about a call.
type ToolResult struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	// Text is for the model, and says what to do next when IsError.
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
	// Images are figures, at most a few and each of at most some MiB.
	Images []Image `json:"images,omitempty"`
	// JobID is that of the job that the call became, if it became one.
	JobID string `json:"job_id,omitempty"`
	// Duration is the call's by the clock.
	Duration time.Duration `json:"duration_ns,omitempty"`
}

// Image is a picture in a tool result.
type Image struct {
	// Path is its name in the workspace or among the files of the job.
	Path string `json:"path"`
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Usage is in tokens, as the provider reports them; a provider that reports none leaves 0.
type Usage struct {
	Input  int64 `json:"input,omitempty"`
	Output int64 `json:"output,omitempty"`
	// CacheRead and CacheWrite are input tokens read from and written to the provider's cache, not in Input.
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// Total is the number of all tokens.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Add returns the sum of both.
func (u Usage) Add(other Usage) Usage {
	return Usage{
		Input: u.Input + other.Input, Output: u.Output + other.Output,
		CacheRead: u.CacheRead + other.CacheRead, CacheWrite: u.CacheWrite + other.CacheWrite,
	}
}

// Stop is why a run ended.
type Stop string

// The ends of a run.
const (
	// StopAnswer means that the model answered without a tool call.
	StopAnswer Stop = "answer"
	// StopIterations, StopTime and StopTokens are the bounds of Options.
	StopIterations Stop = "iterations"
	StopTime       Stop = "time"
	StopTokens     Stop = "tokens"
	// StopRefusal means that the model or its provider declined.
	StopRefusal Stop = "refusal"
	// StopProvider means that the provider failed after all retries.
	StopProvider Stop = "provider"
	// StopCanceled means that the caller's context ended.
	StopCanceled Stop = "canceled"
)
