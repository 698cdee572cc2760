package spans

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope names what makes our spans.
const scope = "github.com/sandloop/sandloop"

// Begin begins a span with a provider, below the one in ctx if there is one. A nil provider is that of the span in ctx.
// The caller ends it.
func Begin(ctx context.Context, provider trace.TracerProvider, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if provider == nil {
		provider = trace.SpanFromContext(ctx).TracerProvider()
	}
	return provider.Tracer(scope).Start(ctx, name, options...)
}

// Child begins a span below the one in ctx, with its provider. Without one nothing is recorded. The caller ends it.
func Child(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	return Begin(ctx, nil, name, options...)
}

// Without returns ctx without its span, for what outlives that and serves others.
func Without(ctx context.Context) context.Context { return trace.ContextWithSpan(ctx, nil) }

// Fail marks a span as failed by our own doing. What is a fixed text of ours: the error itself is in the log.
func Fail(span trace.Span, what string) { span.SetStatus(codes.Error, what) }
