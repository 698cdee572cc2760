package docker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// ours are the names of spans that this package makes; the Docker client makes some, too.
var ours = map[string]bool{"container.obtain": true, "container.start": true, "compile": true, "run": true}

// traced runs what is given below a span and returns our spans by name, in the order of their ends, and that span's id.
func traced(t *testing.T, do func(context.Context)) (found map[string][]sdktrace.ReadOnlySpan, root trace.SpanID) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ctx, span := provider.Tracer("test").Start(t.Context(), "job")
	do(ctx)
	span.End()
	found = map[string][]sdktrace.ReadOnlySpan{}
	for _, ended := range recorder.Ended() {
		require.NotContains(t, fmt.Sprint(ended.Attributes(), ended.Events(), ended.Status()), "hunter2", ended.Name())
		if ours[ended.Name()] {
			found[ended.Name()] = append(found[ended.Name()], ended)
		}
	}
	return found, span.SpanContext().SpanID()
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]string {
	shown := map[string]string{}
	for _, attribute := range span.Attributes() {
		shown[string(attribute.Key)] = attribute.Value.String()
	}
	return shown
}

func TestAColdRunIsObtainStartCompileAndRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	program := cProgram("#include <stdio.h>\nint main(void) { puts(\"hunter2\"); return 7; }")
	program.Stdin, program.Env, program.Args = []byte("hunter2"), map[string]string{"TOKEN": "hunter2"}, []string{"hunter2"}
	found, root := traced(t, func(ctx context.Context) {
		result, err := b.Run(ctx, program)
		require.NoError(t, err)
		require.Equal(t, 7, result.ExitCode)
	})
	for _, name := range []string{"container.obtain", "container.start", "compile", "run"} {
		require.Len(t, found[name], 1, name)
	}
	obtain, start, compile, run := found["container.obtain"][0], found["container.start"][0], found["compile"][0], found["run"][0]
	require.Equal(t, root, obtain.Parent().SpanID())
	require.Equal(t, obtain.SpanContext().SpanID(), start.Parent().SpanID())
	require.Equal(t, root, compile.Parent().SpanID())
	require.Equal(t, root, run.Parent().SpanID())
	require.Equal(t, map[string]string{"sandloop.container": "cold"}, attributesOf(obtain))
	require.Equal(t, "ok", attributesOf(compile)["sandloop.outcome"])
	got := attributesOf(run)
	require.Equal(t, "nonzero_exit", got["sandloop.outcome"])
	require.Equal(t, "7", got["process.exit.code"])
	require.NotEqual(t, "0", got["sandloop.peak_memory_bytes"])
	require.False(t, compile.StartTime().Before(obtain.EndTime()))
	require.False(t, run.StartTime().Before(compile.EndTime()))
}

func TestAWarmRunStartsNoContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	found, _ := traced(t, func(ctx context.Context) {
		result, err := b.Run(ctx, python("print(1)"))
		require.NoError(t, err)
		require.True(t, result.Enforcement.Warm)
	})
	require.Empty(t, found["container.start"], "the pool's starts are nobody's")
	require.Equal(t, map[string]string{"sandloop.container": "warm"}, attributesOf(found["container.obtain"][0]))
	require.Len(t, found["run"], 1)
	require.Empty(t, found["compile"])
}

func TestEachTestOfASeriesIsARun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, root := traced(t, func(ctx context.Context) {
		sent := 0
		whole, err := b.RunTests(ctx, cProgram(double), func(*sandbox.TestResult) (sandbox.Test, bool) {
			sent++
			return sandbox.Test{ID: "hunter2", Stdin: []byte("hunter2")}, sent <= 3 // no number: exit code 3
		})
		require.NoError(t, err)
		require.True(t, whole.OK, whole.Message)
	})
	require.Len(t, found["compile"], 1)
	require.Len(t, found["run"], 3)
	last := found["compile"][0].EndTime()
	for _, run := range found["run"] {
		require.Equal(t, root, run.Parent().SpanID())
		require.Equal(t, "3", attributesOf(run)["process.exit.code"])
		require.False(t, run.StartTime().Before(last))
		last = run.EndTime()
	}
}

func TestACompileErrorHasNoRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, _ := traced(t, func(ctx context.Context) {
		result, err := b.Run(ctx, cProgram("hunter2"))
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCompileError, result.Outcome)
	})
	require.Equal(t, "1", attributesOf(found["compile"][0])["process.exit.code"])
	require.Empty(t, found["run"])
}

func TestTheStepOfACanceledRunEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, _ := traced(t, func(ctx context.Context) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		program := python("import time", "time.sleep(600)")
		program.OnStart = func(sandbox.Enforcement) { cancel(sandbox.ErrCanceled) }
		result, err := b.Run(ctx, program)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
	})
	require.Len(t, found["run"], 1)
}

// What is held outlives the job that it was started for.
func TestWhatAHeldContainerDoesIsNobodysTrace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, _ := traced(t, func(ctx context.Context) {
		program := python("print(1)")
		program.Hold = time.Minute
		result, err := b.Run(ctx, program)
		require.NoError(t, err)
		require.True(t, result.OK, result.Message)
	})
	require.Len(t, found["container.obtain"], 1)
	require.Empty(t, found["run"])
}

func TestAContainerThatCannotStartIsAFailureOfOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, _ := traced(t, func(ctx context.Context) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(sandbox.ErrCanceled)
		_, err := b.start(ctx, b.specOf(shape{}), shape{})
		require.ErrorIs(t, err, sandbox.ErrCanceled)
	})
	require.Equal(t, "Error", found["container.start"][0].Status().Code.String())
}
