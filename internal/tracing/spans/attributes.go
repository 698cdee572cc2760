package spans

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// The names of attributes. Those without sandloop in front are of OpenTelemetry's semantic conventions.
const (
	keyJob         = "sandloop.job.id"
	keyAttempt     = "sandloop.job.attempt"
	keyEnd         = "sandloop.job.attempt_end"
	keyQueueTime   = "sandloop.job.queue_seconds"
	keyExisting    = "sandloop.job.existing"
	keyLanguage    = "sandloop.language"
	keyOutcome     = "sandloop.outcome"
	keyPeakMemory  = "sandloop.peak_memory_bytes"
	keyContainer   = "sandloop.container"
	keySystem      = "messaging.system"
	keyDestination = "messaging.destination.name"
	keyMessage     = "messaging.message.id"
	keyOperation   = "messaging.operation.name"
	keyType        = "messaging.operation.type"
	keyExitCode    = "process.exit.code"
)

// Operation is what a span does with a message of a queue: the type is send or process, as the conventions have it.
func Operation(name, kind, queue string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(keySystem, "asynq"), attribute.String(keyDestination, queue),
		attribute.String(keyOperation, name), attribute.String(keyType, kind),
	}
}

// Job names a job.
func Job(id string) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String(keyJob, id), attribute.String(keyMessage, id)}
}

// Attempt is the number of an attempt and how long the job had waited for it.
func Attempt(number int, waited sandbox.Seconds) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int(keyAttempt, number), attribute.Float64(keyQueueTime, waited.Duration().Seconds())}
}

// AttemptEnd is how an attempt ended, in a fixed word of ours.
func AttemptEnd(how string) attribute.KeyValue { return attribute.String(keyEnd, how) }

// Existing tells that a job had been submitted before.
func Existing(is bool) attribute.KeyValue { return attribute.Bool(keyExisting, is) }

// maxLanguage bounds the name of a language, which is the submitter's own word.
const maxLanguage = 32

// Language is the name of a language as the job gives it, cut to 32 bytes of text: a span that is none would take
// all others of its message with it.
func Language(name string) attribute.KeyValue {
	return attribute.String(keyLanguage, strings.ToValidUTF8(name[:min(len(name), maxLanguage)], ""))
}

// Container tells where a container came from: warm, reused or cold.
func Container(origin string) attribute.KeyValue { return attribute.String(keyContainer, origin) }

// Result is what became of a program or of one of its steps.
func Result(outcome sandbox.Outcome, exitCode int, peakMemory int64) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(keyOutcome, string(outcome)), attribute.Int(keyExitCode, exitCode), attribute.Int64(keyPeakMemory, peakMemory),
	}
}
