package jobs

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// submitSpans are the spans of jobs that are handed in together, one each.
type submitSpans []trace.Span

// begin begins the span of a job's submission and has the job carry its trace to the worker. Without a tracer the job
// carries on the trace that ctx, or the job itself, is in.
func (s *submitSpans) begin(ctx context.Context, provider trace.TracerProvider, job Job) Job {
	if spans.Traceparent(ctx) == "" {
		ctx = spans.WithTraceparent(ctx, job.Traceparent)
	}
	ctx, span := spans.Begin(ctx, provider, "submit", trace.WithSpanKind(trace.SpanKindProducer))
	*s = append(*s, span)
	if job.Traceparent != "" && (!span.IsRecording() || spans.CheckTraceparent(job.Traceparent) != nil) {
		return job // what is no trace is refused with the job
	}
	job.Traceparent = spans.Traceparent(ctx)
	if span.IsRecording() {
		queue := job.Queue
		if queue == "" {
			queue = Default
		}
		span.SetAttributes(spans.Operation("submit", "send", string(queue))...)
		span.SetAttributes(spans.Language(job.Program.Language))
	}
	return job
}

// end ends the spans with what became of the submissions.
func (s *submitSpans) end(submissions []Submission) {
	for i, span := range *s {
		if submission := submissions[i]; submission.Err != nil {
			spans.Fail(span, "the job was not accepted")
		} else {
			span.SetAttributes(spans.Job(submission.ID)...)
			span.SetAttributes(spans.Existing(submission.Existing))
		}
		span.End()
	}
}

// trace begins the span of an attempt below its job's submission.
func (w *Worker) trace(ctx context.Context, a *attempt, traceparent string) context.Context {
	ctx, a.span = spans.Begin(spans.WithTraceparent(ctx, traceparent), w.options.Tracer, "job",
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(a.started))
	if a.span.IsRecording() {
		a.span.SetAttributes(spans.Operation("run", "process", string(a.queue))...)
		a.span.SetAttributes(spans.Job(a.ref.ID)...)
		a.span.SetAttributes(spans.Attempt(a.number, sandbox.Seconds(max(0, a.started.Sub(a.submitted))))...)
	}
	return ctx
}

// The ways in which an attempt ends, for its span.
const (
	endStored    = "stored"
	endHanded    = "handed over"
	endLost      = "lost"
	endRequeued  = "requeued"
	endFailed    = "failed"
	endUnsettled = "unsettled"
)

// endTrace ends the span of an attempt. Problem is what execution returned and settled what settling it did.
func (a *attempt) endTrace(ctx context.Context, problem, settled error) {
	a.span.SetAttributes(spans.Language(a.job.Program.Language))
	end, cause := "", context.Cause(ctx)
	switch {
	case a.stored != nil:
		end = endStored
		a.span.SetAttributes(spans.Result(a.stored.Outcome, a.stored.ExitCode, a.stored.PeakMemory)...)
	case errors.Is(settled, errUnsettled):
		end = endUnsettled
	case errors.Is(cause, ErrLost):
		end = endLost
	case handsOver(problem):
		end = endHanded
	case errors.Is(cause, ErrShutdown) && problem != nil:
		end = endRequeued
	case problem != nil:
		end = endFailed
	default:
		end = endLost
	}
	if end == endFailed || end == endUnsettled {
		spans.Fail(a.span, "the attempt failed and the program is not to blame; the log of the worker says why")
	}
	a.span.SetAttributes(spans.AttemptEnd(end))
	a.span.End()
}
