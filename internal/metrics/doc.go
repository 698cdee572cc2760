// Package metrics counts what a worker does, and tells it in Prometheus' format.
//
// Its one invariant: what jobs say of themselves cannot make it grow. A label has one of a few values that the
// operator knows beforehand; tenants, sessions and jobs are no labels.
//
// It imports what is counted: jobs, docker and reaper. Only cmd/worker imports it.
package metrics
