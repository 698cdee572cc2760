// Package scale shows what becomes of an installation that grows and shrinks: workers that come and go under load,
// a Redis that fails over, and a queue of a million jobs. It has what tests and measurements share: processes of workers
// and of producers; cmd/simulate measures and tools/plot draws.
//
// Its one invariant: workers and producers are those of internal/jobs as they are. Only the program that a job runs is
// replaced, by one that takes time and nothing else.
//
// It imports internal/jobs and internal/sandbox, and never the Docker SDK.
package scale
