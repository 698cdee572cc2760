package docker

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// endStart ends the span of a container's start.
func endStart(span trace.Span, err error) {
	if err != nil {
		spans.Fail(span, "the container did not start")
	}
	span.End()
}

// endObtain ends the span of the wish for a container.
func endObtain(span trace.Span, b *box, waited bool, err error) {
	switch {
	case err != nil:
		spans.Fail(span, "there is no container")
	case b.jobs > 0:
		span.SetAttributes(spans.Container("reused"))
	case waited:
		span.SetAttributes(spans.Container("warm"))
	default:
		span.SetAttributes(spans.Container("cold"))
	}
	span.End()
}

// stepSpans makes a span of each step of a job: compile, run, and run for each test of a series. A nil one makes none.
type stepSpans struct {
	start func(name string) trace.Span
	open  trace.Span // the step's that runs, or nil
}

func newStepSpans(ctx context.Context) *stepSpans {
	return &stepSpans{start: func(name string) trace.Span {
		_, span := spans.Child(ctx, name)
		return span
	}}
}

// begin begins the span of a step.
func (s *stepSpans) begin(name string) {
	if s == nil || name == "" {
		return
	}
	s.close()
	s.open = s.start(name)
}

// end ends the span of the step that runs with its report.
func (s *stepSpans) end(report wire.StepReport) {
	if s == nil || s.open == nil {
		return
	}
	v := judge(report, sandbox.Limits{}) // limits only show in words
	s.open.SetAttributes(spans.Result(v.outcome, v.exitCode, report.PeakMemory)...)
	s.close()
}

// close ends the span of a step of which nothing more is heard, if there is one.
func (s *stepSpans) close() {
	if s != nil && s.open != nil {
		s.open.End()
		s.open = nil
	}
}
