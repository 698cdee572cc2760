package spans

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// header is the name of the one field of W3C Trace Context that travels. Tracestate, which belongs to vendors, does not.
const header = "traceparent"

// form is that of version 0. Later versions may be longer and mean something else.
var form = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-0[0-3]$`)

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
	parts := form.FindStringSubmatch(text)
	if parts == nil || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return fmt.Errorf("%.80q: want one of W3C Trace Context, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", text)
	}
	return nil
}
