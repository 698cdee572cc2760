// Package spans begins the spans of our traces and carries a trace over the queue.
//
// Its one invariant: no span holds what a program is made of, reads, writes or gets as its environment, nor the text
// of an error, which may quote any of these. Where nothing is traced a span costs an allocation or two.
//
// It imports OpenTelemetry's API and never its SDK, so that whatever makes spans can be used without.
package spans
