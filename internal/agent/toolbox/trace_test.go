package toolbox

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
)

// tracedJobs is a queue that notes below which span a job was handed in.
type tracedJobs struct {
	*fakeJobs
	parent trace.SpanContext
}

func (j *tracedJobs) Submit(ctx context.Context, job jobs.Job) (jobs.Submission, error) {
	j.parent = trace.SpanContextFromContext(ctx)
	return j.fakeJobs.Submit(ctx, job)
}

func TestACallIsTheParentOfItsJob(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	queue := &tracedJobs{fakeJobs: newFakeJobs()}
	queue.finish(ok("hunter2"))
	box, _ := setup(t, func(o *Options) {
		o.Jobs = queue
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	})
	result := box.Call(t.Context(), agent.ToolCall{ID: "hunter2", Name: "run_code", Arguments: `{"language":"python","code":"hunter2"}`}, nil)
	require.False(t, result.IsError, result.Text)
	require.Len(t, recorder.Ended(), 1)
	span := recorder.Ended()[0]
	require.Equal(t, "execute_tool run_code", span.Name())
	require.Equal(t, queue.parent.SpanID(), span.SpanContext().SpanID())
	require.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status()), "hunter2")

	result = box.Call(t.Context(), agent.ToolCall{Name: "hunter2"}, nil)
	require.True(t, result.IsError)
	require.Len(t, recorder.Ended(), 1, "a tool that is none has no span: its name is the model's")
}
