package tracing

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/tracing/otlptest"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// complaints are what failed was told.
type complaints struct {
	mu   sync.Mutex
	told []string
}

func (c *complaints) hear(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, err.Error())
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.told...)
}

func start(t *testing.T, c config.Tracing) (*Traces, *complaints) {
	t.Helper()
	heard := &complaints{}
	traces, err := Start(t.Context(), c, Service{Name: "sandloop-test", Version: "v1.2.3", Instance: "seven"}, heard.hear)
	require.NoError(t, err)
	return traces, heard
}

func TestSpansArriveBelowEachOther(t *testing.T) {
	t.Parallel()
	receiver := otlptest.Start(t)
	traces, heard := start(t, config.Tracing{Endpoint: receiver.URL, Sample: 1})
	ctx, outer := spans.Begin(t.Context(), traces.Provider(), "outer")
	_, inner := spans.Child(ctx, "inner")
	inner.SetAttributes(attribute.String("long", fmt.Sprintf("%01000d", 7)))
	spans.Fail(inner, "it did not work")
	inner.End()
	outer.End()
	traces.Close(t.Context())
	first, second := receiver.One(t, "outer", bound), receiver.One(t, "inner", bound)
	require.Empty(t, first.Parent)
	require.Equal(t, first.ID, second.Parent)
	require.Equal(t, first.Trace, second.Trace)
	require.Equal(t, "sandloop-test", first.Service)
	require.False(t, first.Failed)
	require.True(t, second.Failed)
	require.Equal(t, "it did not work", second.Message)
	require.Len(t, second.Attributes["long"], 256)
	require.Contains(t, receiver.Raw(), "v1.2.3")
	require.Contains(t, receiver.Raw(), "seven")
	require.Empty(t, heard.all())
	traces.Close(t.Context()) // twice is as once
}

func TestWithoutAnEndpointNothingIsStarted(t *testing.T) {
	receiver := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	traces, _ := start(t, config.Tracing{Sample: 1})
	require.Nil(t, traces)
	require.Nil(t, traces.Provider())
	_, span := spans.Begin(t.Context(), traces.Provider(), "none")
	require.False(t, span.IsRecording())
	span.End()
	traces.Close(t.Context())
	require.Empty(t, receiver.Headers())
}

func TestTheParentDecidesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	const recorded, not = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for name, test := range map[string]struct {
		sample float64
		parent string
		want   bool
	}{
		"all, none above":           {1, "", true},
		"none, none above":          {0, "", false},
		"all, not recorded above":   {1, not, false},
		"none, recorded above":      {0, recorded, true},
		"nothing that can be known": {0, "00-xyz", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := otlptest.Start(t)
			traces, _ := start(t, config.Tracing{Endpoint: receiver.URL, Sample: test.sample})
			ctx, span := spans.Begin(spans.WithTraceparent(t.Context(), test.parent), traces.Provider(), "span")
			require.Equal(t, test.want, span.IsRecording())
			require.NotEmpty(t, spans.Traceparent(ctx), "what follows must know that it is not recorded")
			span.End()
			traces.Close(t.Context())
			if !test.want {
				require.Empty(t, receiver.Spans())
				return
			}
			got := receiver.One(t, "span", bound)
			if test.parent != "" {
				require.Equal(t, "b7ad6b7169203331", got.Parent)
				require.Equal(t, "0af7651916cd43dd8448eb211c80319c", got.Trace)
			}
		})
	}
}

func TestTheStandardVariablesNameTheService(t *testing.T) {
	receiver := otlptest.Start(t)
	t.Setenv("OTEL_SERVICE_NAME", "grader")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	traces, _ := start(t, config.Tracing{Endpoint: receiver.URL, Sample: 1})
	_, span := spans.Begin(t.Context(), traces.Provider(), "span")
	span.End()
	traces.Close(t.Context())
	require.Equal(t, "grader", receiver.One(t, "span", bound).Service)
	require.Contains(t, receiver.Raw(), "staging")
	require.Equal(t, "blue", receiver.Headers()[0].Get("X-Team"))
}

func TestAReceiverThatIsGoneIsToldOfOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	traces, heard := start(t, config.Tracing{Endpoint: server.URL, Sample: 1})
	for range 5000 { // more than the queue holds
		_, span := spans.Begin(t.Context(), traces.Provider(), "lost")
		span.End()
	}
	traces.Close(t.Context())
	require.Len(t, heard.all(), 1)
	require.Contains(t, heard.all()[0], "spans were lost: ")
}

func TestAReceiverThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	t.Cleanup(func() { close(stuck); server.Close() })
	traces, _ := start(t, config.Tracing{Endpoint: server.URL, Sample: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the process is told to end
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 {
			_, span := spans.Begin(ctx, traces.Provider(), "lost")
			span.End()
		}
		traces.Close(ctx)
	}()
	select {
	case <-done:
	case <-time.After(bound):
		require.FailNow(t, "it was waited for the receiver for more than "+bound.String())
	}
}

func TestAnAnswerThatQuotesTheTokenIsNotQuoted(t *testing.T) {
	t.Parallel()
	receiver := otlptest.Start(t)
	receiver.Refuse(http.StatusUnauthorized, func(h http.Header) string {
		return "bad token\nin " + h.Get("Authorization") + " of " + h.Get("X-Key") + fmt.Sprintf("%01000d", 1)
	})
	traces, heard := start(t, config.Tracing{Endpoint: receiver.URL, Sample: 1, HeadersFile: headersFile(t, "Authorization: Bearer hunter2\nX-Key: hunter3\n")})
	_, span := spans.Begin(t.Context(), traces.Provider(), "span")
	span.End()
	traces.Close(t.Context())
	require.Equal(t, "Bearer hunter2", receiver.Headers()[0].Get("Authorization"))
	require.Len(t, heard.all(), 1)
	told := heard.all()[0]
	require.Contains(t, told, "bad token in xxxxx of xxxxx")
	require.NotContains(t, told, "hunter")
	require.Less(t, len(told), 500)
}

func TestThePathOfAReceiver(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"http://h:4318":          "http://h:4318/v1/traces",
		"https://h/":             "https://h/v1/traces",
		"https://h/otlp/v1/push": "https://h/otlp/v1/push",
	} {
		require.Equal(t, want, receiver(endpoint))
	}
}
