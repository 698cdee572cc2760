package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// recorder records the spans of one process.
type recorder struct {
	*tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

func newRecorder(sampler sdktrace.Sampler) *recorder {
	r := &recorder{SpanRecorder: tracetest.NewSpanRecorder()}
	r.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r), sdktrace.WithSampler(sdktrace.ParentBased(sampler)))
	return r
}

// named waits for so many ended spans of a name.
func (r *recorder) named(t *testing.T, name string, count int) (found []sdktrace.ReadOnlySpan) {
	t.Helper()
	eventually(t, func() bool {
		found = nil
		for _, span := range r.Ended() {
			if span.Name() == name {
				found = append(found, span)
			}
		}
		return len(found) >= count
	}, "spans "+name)
	require.Len(t, found, count, name)
	return found
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]string {
	shown := map[string]string{}
	for _, attribute := range span.Attributes() {
		shown[string(attribute.Key)] = attribute.Value.String()
	}
	return shown
}

// tracing makes the bundle's client that of a process that traces.
func (b *bundle) tracing(t *testing.T, r *recorder) *Client {
	t.Helper()
	client := NewClient(b.rdb, ClientOptions{Tracer: r.provider})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func tracedBy(r *recorder) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.Tracer = r.provider }
}

func TestAJobIsOneTraceOverTwoProcesses(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer, consumer := newRecorder(sdktrace.AlwaysSample()), newRecorder(sdktrace.NeverSample()) // which its parents overrule
		client := b.tracing(t, producer)
		runner := newFakeRunner()
		w := b.start(runner, tracedBy(consumer))
		ctx, root := producer.provider.Tracer("test").Start(b.ctx, "root")
		secret := Job{
			Tenant: "alice", Queue: Batch, IdempotencyKey: "hunter2", Program: sandbox.Program{
				Language: "python", Source: sandbox.Bytes("print('hunter2')"), Stdin: sandbox.Bytes("hunter2"),
				Args: []string{"hunter2"}, Env: map[string]string{"TOKEN": "hunter2"}, Files: []sandbox.File{{Path: "hunter2.txt", Data: sandbox.Bytes("hunter2")}},
			},
		}
		submission, err := client.Submit(ctx, secret)
		require.NoError(t, err)
		root.End()
		r := receive(t, runner.runs)
		running := trace.SpanContextFromContext(r.ctx)
		r.answer <- answer{result: sandbox.Result{
			Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, PeakMemory: 12345678, Message: "hunter2",
			Stdout: sandbox.NewStream([]byte("hunter2"), nil, 7), Stderr: sandbox.NewStream([]byte("hunter2"), nil, 7),
		}}
		b.await(submission.ID)
		w.stop(t)

		submit := producer.named(t, "submit", 1)[0]
		job, finish := consumer.named(t, "job", 1)[0], consumer.named(t, "finish", 1)[0]
		require.Len(t, consumer.Ended(), 2)
		require.Equal(t, root.SpanContext().SpanID(), submit.Parent().SpanID())
		require.Equal(t, submit.SpanContext().SpanID(), job.Parent().SpanID())
		require.True(t, job.Parent().IsRemote())
		require.Equal(t, job.SpanContext().SpanID(), finish.Parent().SpanID())
		require.Equal(t, job.SpanContext().SpanID(), running.SpanID(), "what the runner makes is below the attempt")
		for _, span := range []sdktrace.ReadOnlySpan{submit, job, finish} {
			require.Equal(t, root.SpanContext().TraceID(), span.SpanContext().TraceID())
			require.Equal(t, "Unset", span.Status().Code.String(), "a program that fails is no failure of ours")
			require.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status()), "hunter2")
		}
		require.Equal(t, trace.SpanKindProducer, submit.SpanKind())
		require.Equal(t, map[string]string{
			"messaging.system": "asynq", "messaging.destination.name": "batch", "messaging.operation.name": "submit", "messaging.operation.type": "send",
			"messaging.message.id": submission.ID, "sandloop.job.id": submission.ID, "sandloop.job.existing": "false", "sandloop.language": "python",
		}, attributesOf(submit))
		require.Equal(t, trace.SpanKindConsumer, job.SpanKind())
		got := attributesOf(job)
		require.NotEmpty(t, got["sandloop.job.queue_seconds"])
		delete(got, "sandloop.job.queue_seconds")
		require.Equal(t, map[string]string{
			"messaging.system": "asynq", "messaging.destination.name": "batch", "messaging.operation.name": "run", "messaging.operation.type": "process",
			"messaging.message.id": submission.ID, "sandloop.job.id": submission.ID, "sandloop.job.attempt": "1", "sandloop.language": "python",
			"sandloop.job.attempt_end": "stored", "sandloop.outcome": "nonzero_exit", "process.exit.code": "3", "sandloop.peak_memory_bytes": "12345678",
		}, got)
		require.False(t, job.StartTime().After(finish.StartTime()))
		require.False(t, job.EndTime().Before(finish.EndTime()))
	})
}

func TestEachAttemptIsASpanBelowTheSubmission(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer, consumer := newRecorder(sdktrace.AlwaysSample()), newRecorder(sdktrace.NeverSample())
		client := b.tracing(t, producer)
		runner := newFakeRunner()
		w := b.start(runner, tracedBy(consumer))
		submission, err := client.Submit(b.ctx, job("1"))
		require.NoError(t, err)
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon at hunter2")}
		receive(t, runner.runs)
		w.stop(t) // without grace: the second attempt is given back
		submit, attempts := producer.named(t, "submit", 1)[0], consumer.named(t, "job", 2)
		for _, attempt := range attempts {
			require.Equal(t, submit.SpanContext().SpanID(), attempt.Parent().SpanID())
			require.NotContains(t, fmt.Sprint(attempt.Attributes(), attempt.Events(), attempt.Status()), "hunter2")
		}
		first, second := attributesOf(attempts[0]), attributesOf(attempts[1])
		require.Equal(t, []string{"1", "failed"}, []string{first["sandloop.job.attempt"], first["sandloop.job.attempt_end"]})
		require.Equal(t, "Error", attempts[0].Status().Code.String())
		require.Equal(t, []string{"2", "requeued"}, []string{second["sandloop.job.attempt"], second["sandloop.job.attempt_end"]})
		require.Equal(t, "Unset", attempts[1].Status().Code.String())

		third := newRecorder(sdktrace.NeverSample())
		b.start(echoRunner{}, tracedBy(third))
		b.await(submission.ID)
		last := third.named(t, "job", 1)[0]
		require.Equal(t, "3", attributesOf(last)["sandloop.job.attempt"])
		require.Equal(t, submit.SpanContext().SpanID(), last.Parent().SpanID())
	})
}

func TestWhatIsNotSampledIsTracedNowhere(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer, consumer := newRecorder(sdktrace.NeverSample()), newRecorder(sdktrace.AlwaysSample())
		client := b.tracing(t, producer)
		w := b.start(echoRunner{}, tracedBy(consumer))
		submission, err := client.Submit(b.ctx, job("1"))
		require.NoError(t, err)
		b.await(submission.ID)
		w.stop(t)
		require.Empty(t, producer.Ended())
		require.Empty(t, consumer.Ended(), "the worker alone would have recorded it")
	})
}

func TestAWorkerTracesTheJobsOfProducersThatDoNot(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		consumer := newRecorder(sdktrace.AlwaysSample())
		w := b.start(echoRunner{}, tracedBy(consumer))
		b.await(b.submit(job("1")))
		w.stop(t)
		require.False(t, consumer.named(t, "job", 1)[0].Parent().IsValid())
	})
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// Another producer, which has a tracer of its own, may put its trace into the job.
func TestAJobBringsItsTrace(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer, consumer := newRecorder(sdktrace.NeverSample()), newRecorder(sdktrace.NeverSample())
		w := b.start(echoRunner{}, tracedBy(consumer))
		j := job("1")
		j.Traceparent = traceparent
		b.await(b.submit(j)) // by a client without a tracer
		first := consumer.named(t, "job", 1)[0]
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", first.SpanContext().TraceID().String())
		require.Equal(t, "b7ad6b7169203331", first.Parent().SpanID().String())

		submission, err := b.tracing(t, producer).Submit(b.ctx, j)
		require.NoError(t, err)
		b.await(submission.ID)
		w.stop(t)
		submit := producer.named(t, "submit", 1)[0]
		require.Equal(t, "b7ad6b7169203331", submit.Parent().SpanID().String())
		require.Equal(t, submit.SpanContext().SpanID(), consumer.named(t, "job", 2)[1].Parent().SpanID())
	})
}

func TestTheTraceOfAContextIsCarriedOnWithoutATracer(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		_, err := b.client.Submit(spans.WithTraceparent(b.ctx, traceparent), Job{ID: "a", Program: job("1").Program})
		require.NoError(t, err)
		require.Equal(t, traceparent, b.rdb.HGet(b.ctx, b.client.store.keys.state("a"), "trace").Val())
		b.submit(Job{ID: "b", Program: job("1").Program})
		require.False(t, b.rdb.HExists(b.ctx, b.client.store.keys.state("b"), "trace").Val())
	})
}

func TestATraceIsNoPartOfWhatARepetitionMustShare(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer := newRecorder(sdktrace.AlwaysSample())
		client := b.tracing(t, producer)
		j := job("1")
		j.IdempotencyKey = "key"
		first, err := client.Submit(b.ctx, j)
		require.NoError(t, err)
		kept := b.rdb.HGet(b.ctx, b.client.store.keys.state(first.ID), "trace").Val()
		require.NoError(t, spans.CheckTraceparent(kept))
		for _, again := range []*Client{client, b.client} {
			second, err := again.Submit(b.ctx, j)
			require.NoError(t, err)
			require.Equal(t, Submission{ID: first.ID, Existing: true}, second)
		}
		require.Equal(t, kept, b.rdb.HGet(b.ctx, b.client.store.keys.state(first.ID), "trace").Val(), "the job has the trace of who brought it first")
		submits := producer.named(t, "submit", 2)
		require.Equal(t, "true", attributesOf(submits[1])["sandloop.job.existing"])
	})
}

func TestATraceparentThatIsNoneIsRefused(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		producer := newRecorder(sdktrace.AlwaysSample())
		j := job("1")
		for _, bad := range []string{"hello", strings.ToUpper(traceparent), traceparent + "\n", strings.Repeat("0", 100_000)} {
			j.Traceparent = bad
			for _, client := range []*Client{b.client, b.tracing(t, producer)} {
				_, err := client.Submit(b.ctx, j)
				require.ErrorContains(t, err, "traceparent: ")
				require.Less(t, len(err.Error()), 1000)
			}
		}
		require.Equal(t, "Error", producer.named(t, "submit", 4)[3].Status().Code.String())
	})
}

// Who can write to Redis can store anything as the trace.
func TestAStoredTraceThatIsNoneIsIgnored(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		consumer := newRecorder(sdktrace.AlwaysSample())
		id := b.submit(job("1"))
		require.NoError(t, b.rdb.HSet(b.ctx, b.client.store.keys.state(id), "trace", strings.Repeat("x", 1<<16)).Err())
		w := b.start(echoRunner{}, tracedBy(consumer))
		require.Equal(t, sandbox.OutcomeOK, b.await(id).Result.Outcome)
		w.stop(t)
		require.False(t, consumer.named(t, "job", 1)[0].Parent().IsValid())
	})
}

func TestTheSpanOfACanceledAttempt(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		consumer := newRecorder(sdktrace.AlwaysSample())
		runner := newFakeRunner()
		w := b.start(runner, tracedBy(consumer))
		id := b.submit(job("1"))
		receive(t, runner.runs)
		_, err := b.client.Cancel(context.WithoutCancel(b.ctx), id)
		require.NoError(t, err)
		b.await(id)
		w.stop(t)
		span := consumer.named(t, "job", 1)[0]
		require.Equal(t, "canceled", attributesOf(span)["sandloop.outcome"])
		require.Equal(t, "Unset", span.Status().Code.String())
	})
}
