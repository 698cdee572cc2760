package tracing

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// complainEvery is how often it is told at most that spans did not arrive.
const complainEvery = time.Minute

// maxComplaint is how many bytes of an error are told: it holds what the receiver answered.
const maxComplaint = 400

// exporter sends spans and tells of failures itself, instead of leaving that to the SDK, which would write each of them
// to standard error.
type exporter struct {
	sdktrace.SpanExporter
	failed  func(error)
	secrets []string
	now     func() time.Time

	mu   sync.Mutex
	last time.Time // when a failure was told
	lost int       // spans since then
}

func newExporter(sender sdktrace.SpanExporter, headers map[string]string, failed func(error)) *exporter {
	e := &exporter{SpanExporter: sender, failed: failed, now: time.Now}
	for _, value := range headers {
		e.secrets = append(e.secrets, value)
		if _, token, found := strings.Cut(value, " "); found { // of Bearer and Basic the receiver may quote this alone
			e.secrets = append(e.secrets, token)
		}
	}
	return e
}

// ExportSpans never fails.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.complain(len(spans), err)
	}
	return nil
}

func (e *exporter) complain(lost int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += lost
	now := e.now()
	if !e.last.IsZero() && now.Sub(e.last) < complainEvery {
		return
	}
	e.failed(fmt.Errorf("%d spans were lost: %s", e.lost, e.harmless(err.Error())))
	e.last, e.lost = now, 0
}

// harmless is an error's text without our secrets, should the receiver have answered with them, on one line.
func (e *exporter) harmless(text string) string {
	for _, secret := range e.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
	}
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if len(text) > maxComplaint {
		text = strings.ToValidUTF8(text[:maxComplaint], "") + "..."
	}
	return text
}
