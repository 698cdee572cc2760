package tracing

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/config"
)

// closeTime bounds how long the end of a process waits for the receiver.
const closeTime = 2 * time.Second

// Service is who makes the spans.
type Service struct {
	// Name is the program's, such as sandloop-worker. The variable OTEL_SERVICE_NAME overrides it.
	Name, Version string
	// Instance is the process's among those of the same name; empty is none.
	Instance string
}

// Traces are the spans of this process on their way out. A nil one makes none.
type Traces struct {
	provider *sdktrace.TracerProvider
	exporter *exporter
}

// Start begins to send spans, or returns nil if there is no endpoint. Nothing is connected yet: failed is told, once a
// minute at most and perhaps from another goroutine, that spans did not arrive. The error is a headers file that cannot
// be read. Of the standard variables those that begin with OTEL_RESOURCE_, OTEL_BSP_, OTEL_SPAN_ and OTEL_EXPORTER_OTLP_
// count, except what the configuration says: endpoint, sampler and headers, if there is a file of them.
func Start(ctx context.Context, c config.Tracing, service Service, failed func(error)) (*Traces, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	options := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(receiver(c.Endpoint))}
	var headers map[string]string
	if c.HeadersFile != "" {
		var err error
		if headers, err = readHeaders(c.HeadersFile); err != nil {
			return nil, err
		}
		options = append(options, otlptracehttp.WithHeaders(headers))
	}
	sender, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	t := &Traces{exporter: newExporter(sender, headers, failed)}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(t.exporter),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.Sample))),
		sdktrace.WithResource(describe(ctx, service, failed)),
		sdktrace.WithRawSpanLimits(limits()),
	)
	return t, nil
}

// receiver is the URL that spans are posted to.
func receiver(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || (u.Path != "" && u.Path != "/") {
		return endpoint
	}
	u.Path = "/v1/traces"
	return u.String()
}

// maxAttribute bounds the texts of attributes, in characters: none of ours is meant to be long.
const maxAttribute = 256

func limits() sdktrace.SpanLimits {
	limits := sdktrace.NewSpanLimits()
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxAttribute
	}
	return limits
}

// describe says who makes the spans.
func describe(ctx context.Context, service Service, failed func(error)) *resource.Resource {
	attributes := []attribute.KeyValue{attribute.String("service.name", service.Name), attribute.String("service.version", service.Version)}
	if service.Instance != "" {
		attributes = append(attributes, attribute.String("service.instance.id", service.Instance))
	}
	described, err := resource.New(ctx, resource.WithHost(), resource.WithTelemetrySDK(), resource.WithAttributes(attributes...), resource.WithFromEnv())
	if err != nil {
		failed(fmt.Errorf("traces do not tell all of who made them: %w", err)) // what could be found is there
	}
	return described
}

// Provider makes the spans; nil of a nil Traces, which makes none.
func (t *Traces) Provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// Close sends what has not been sent, within two seconds, also when ctx has ended. What does not arrive by then is lost.
func (t *Traces) Close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if t.provider.Shutdown(ctx) != nil {
		_ = t.exporter.Shutdown(ctx) // ends the request that is under way
	}
}
