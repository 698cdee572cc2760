package agent

import (
	"context"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Tools are what a model can have done. A loop and a server of tools use the same.
type Tools interface {
	// Specs describes the tools, always in the same order.
	Specs() []ToolSpec
	// Call runs a tool. Whatever goes wrong is a result with IsError that says what to do next. progress, if not nil, is
	// called while it runs, from one goroutine. When ctx ends, what the call started is canceled, and the result says so.
	Call(ctx context.Context, call ToolCall, progress func(Progress)) ToolResult
}

// Progress is what a running call tells.
type Progress struct {
	// State is queued, running or another word for people; empty when there is output instead.
	State string
	// JobID is set once the call has become a job.
	JobID string
	// Output is a piece of what the program writes, nil when there is none.
	Output *sandbox.Output
}
