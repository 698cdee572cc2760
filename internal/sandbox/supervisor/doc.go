// Package supervisor is what sandbox-init does as process 1 of a sandbox: it takes one job,
// verifies the limits that the kernel enforces, runs the job's steps and reports.
//
// Its one invariant: user code starts only after every limit has been read back from the
// kernel and found as asked, and after a step no process but this one is left.
//
// It is Linux only and imports the standard library, internal/sandbox and wire.
package supervisor
