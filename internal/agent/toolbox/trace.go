package toolbox

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// traced runs a tool in a span, below which are the jobs of the call. Its names are those of OpenTelemetry's conventions.
// Arguments and texts of results are the model's and are no part of it.
func (t *Toolbox) traced(ctx context.Context, tool tool, call agent.ToolCall, progress func(agent.Progress)) agent.ToolResult {
	ctx, span := spans.Begin(ctx, t.options.Tracer, "execute_tool "+tool.spec.Name, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", tool.spec.Name)))
	defer span.End()
	result := tool.call(ctx, call.Arguments, progress)
	span.SetAttributes(attribute.Bool("sandloop.tool.is_error", result.IsError))
	return result
}
