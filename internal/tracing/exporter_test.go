package tracing

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// failing is a sender that always fails.
type failing struct{}

func (failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return errNoRoute }
func (failing) Shutdown(context.Context) error                             { return nil }

func TestFailuresAreToldOnceAMinute(t *testing.T) {
	t.Parallel()
	heard := &complaints{}
	e := newExporter(failing{}, nil, heard.hear)
	now := time.Unix(1000, 0)
	e.now = func() time.Time { return now }
	send := func(spans int) {
		require.NoError(t, e.ExportSpans(t.Context(), make([]sdktrace.ReadOnlySpan, spans)), "the SDK would write it to standard error")
	}
	send(3)
	require.Equal(t, []string{"3 spans were lost: no route to it"}, heard.all())
	now = now.Add(59 * time.Second)
	send(4)
	require.Len(t, heard.all(), 1)
	now = now.Add(time.Second)
	send(5)
	require.Equal(t, []string{"3 spans were lost: no route to it", "9 spans were lost: no route to it"}, heard.all())
}
