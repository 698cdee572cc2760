// Package tracing sends the spans of a process to a receiver of OTLP over HTTP.
//
// Its one invariant: a receiver that is slow, gone or wrong delays and fails nothing. Spans wait in a bounded queue,
// are dropped when it is full, and the end of a process waits two seconds for them at most.
//
// It imports config and OpenTelemetry's SDK. Only commands import it; what makes spans imports [spans].
package tracing
