// Package admin serves what the operators of a worker look at: probes, metrics and pages.
//
// Its one invariant: it only reads. No request changes anything, and none makes the worker ask Redis or Docker
// more than once a second.
//
// It knows jobs and asynq's web pages, not Docker and not what is counted. Only cmd/worker imports it.
package admin
