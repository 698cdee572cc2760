package spans

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// header is the name of the one field of W3C Trace Context that travels. Tracestate, which belongs to vendors, does not.
const header = "traceparent"

// MaxTraceparent is the size in bytes of the longest traceparent that is taken: version 0 has 55.
const MaxTraceparent = 55

// Traceparent is the trace that ctx is in, in W3C form, and empty if it is in none.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// WithTraceparent returns ctx in the trace that text names. A text that names none changes nothing.
func WithTraceparent(ctx context.Context, text string) context.Context {
	if CheckTraceparent(text) != nil {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: text})
}

// CheckTraceparent refuses what is no traceparent of version 0.
func CheckTraceparent(text string) error {
	if len(text) <= MaxTraceparent {
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: text})
		if trace.SpanContextFromContext(ctx).IsValid() && text[:3] == "00-" {
			return nil
		}
	}
	return fmt.Errorf("%.80q: want one of W3C Trace Context, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", text)
}
