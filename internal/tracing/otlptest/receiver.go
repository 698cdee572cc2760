// Package otlptest is a receiver of traces, OTLP over HTTP, for tests.
//
// Its one invariant: what it shows is what came over the wire, nothing of it from the process that sent it.
// Only tests import it.
package otlptest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it arrived. IDs are hexadecimal; Parent is empty for the first of a trace.
type Span struct {
	Service, Name     string
	Trace, ID, Parent string
	// Kind is client, consumer, internal, producer or server.
	Kind       string
	Attributes map[string]string
	// Failed tells that its status is an error, and Message what that says.
	Failed     bool
	Message    string
	Start, End time.Time
}

// Receiver takes traces. It is safe for concurrent use.
type Receiver struct {
	// URL is the endpoint, without a path.
	URL string

	mu      sync.Mutex
	spans   []Span
	raw     bytes.Buffer
	headers []http.Header
	refusal *refusal
}

type refusal struct {
	status int
	body   func(http.Header) string
}

// Start starts a receiver that ends with the test.
func Start(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	server := httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Refuse makes the receiver answer with a status and what body makes of the request's headers.
func (r *Receiver) Refuse(status int, body func(http.Header) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal = &refusal{status, body}
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, request.Header.Clone())
	if r.refusal != nil {
		http.Error(w, r.refusal.body(request.Header), r.refusal.status)
		return
	}
	body, err := io.ReadAll(request.Body)
	var message collector.ExportTraceServiceRequest
	if err == nil && request.URL.Path != "/v1/traces" {
		err = fmt.Errorf("path %s", request.URL.Path)
	}
	if err == nil {
		err = proto.Unmarshal(body, &message)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.raw.Write(body)
	for _, resource := range message.GetResourceSpans() {
		of := attributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans = append(r.spans, newSpan(of["service.name"], span))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func newSpan(service string, span *otlp.Span) Span {
	return Span{
		Service: service, Name: span.GetName(),
		Trace: hex.EncodeToString(span.GetTraceId()), ID: hex.EncodeToString(span.GetSpanId()), Parent: hex.EncodeToString(span.GetParentSpanId()),
		Kind:       strings.ToLower(strings.TrimPrefix(span.GetKind().String(), "SPAN_KIND_")),
		Attributes: attributes(span.GetAttributes()),
		Failed:     span.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR, Message: span.GetStatus().GetMessage(),
		Start: time.Unix(0, int64(span.GetStartTimeUnixNano())), End: time.Unix(0, int64(span.GetEndTimeUnixNano())), //nolint:gosec // of this century
	}
}

// attributes shows values as text.
func attributes(list []*common.KeyValue) map[string]string {
	shown := map[string]string{}
	for _, pair := range list {
		switch value := pair.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			shown[pair.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			shown[pair.GetKey()] = fmt.Sprint(value.IntValue)
		case *common.AnyValue_DoubleValue:
			shown[pair.GetKey()] = fmt.Sprint(value.DoubleValue)
		case *common.AnyValue_BoolValue:
			shown[pair.GetKey()] = fmt.Sprint(value.BoolValue)
		default:
			shown[pair.GetKey()] = pair.GetValue().String()
		}
	}
	return shown
}

// Spans are all that arrived, in that order.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.spans...)
}

// Raw is all that arrived, as bytes.
func (r *Receiver) Raw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// Headers are those of each request.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.headers...)
}

// Named are the spans of a name.
func (r *Receiver) Named(name string) (found []Span) {
	for _, span := range r.Spans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

// One waits for a span of a name, which must be the only one.
func (r *Receiver) One(t testing.TB, name string, within time.Duration) Span {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.Named(name)) > 0 }, within, 10*time.Millisecond, "no span %q came", name)
	found := r.Named(name)
	require.Len(t, found, 1, name)
	return found[0]
}
