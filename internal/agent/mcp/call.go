package mcp

import (
	"context"
	"fmt"
	"runtime/debug"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// jobIDKey is where a result names the job that the call became, for people who want to look it up.
const jobIDKey = "dev.sandloop/job_id"

// call runs a tool. Whatever goes wrong is a result with isError, which the client's model gets to read; an error of
// the protocol would only tell its program.
func (s *Server) call(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := s.connection(request.Session)
	callCtx, release := s.bound(ctx, c, s.posts.done(request.Extra))
	defer release()
	tools, err := s.opened(callCtx, c)
	if err != nil {
		return failed(fmt.Sprintf("The tool could not start: %v. This is not your doing: try again in a moment.", err)), nil
	}
	callCtx = spans.WithTraceparent(callCtx, traceparent(request))
	call := agent.ToolCall{Name: request.Params.Name, Arguments: string(request.Params.Arguments)}
	if call.Arguments == "" || call.Arguments == "null" {
		call.Arguments = "{}" // clients leave out what a tool does not need
	}
	report, flush := s.reporter(ctx, request)
	result := s.guarded(callCtx, tools, call, report)
	flush()
	return convert(result), nil
}

// traceparent is the trace that the client is in, where it tells that.
func traceparent(request *sdk.CallToolRequest) string {
	text, _ := request.Params.Meta["traceparent"].(string)
	return text
}

// guarded keeps a panic of a tool from ending the calls of all others.
func (s *Server) guarded(ctx context.Context, tools agent.Tools, call agent.ToolCall, report func(agent.Progress)) (result agent.ToolResult) {
	defer func() {
		if problem := recover(); problem != nil {
			s.options.Logger.Error("tool panicked", "tool", call.Name, "panic", problem, "stack", string(debug.Stack()))
			result = agent.ToolResult{IsError: true, Text: "The tool itself failed. This is not your doing: try again, or another way."}
		}
	}()
	return tools.Call(ctx, call, report)
}

func failed(text string) *sdk.CallToolResult {
	return convert(agent.ToolResult{Text: text, IsError: true})
}

// convert puts a result into the protocol's form: the text, then the figures.
func convert(result agent.ToolResult) *sdk.CallToolResult {
	converted := &sdk.CallToolResult{IsError: result.IsError}
	if result.Text != "" || len(result.Images) == 0 {
		converted.Content = append(converted.Content, &sdk.TextContent{Text: result.Text})
	}
	for _, image := range result.Images {
		converted.Content = append(converted.Content, &sdk.ImageContent{
			MIMEType: image.MIME, Data: image.Data, Meta: sdk.Meta{"dev.sandloop/path": image.Path},
		})
	}
	if result.JobID != "" {
		converted.Meta = sdk.Meta{jobIDKey: result.JobID}
	}
	return converted
}
