// Package workspace keeps the files of sessions in Redis, so that each job of a session finds what
// the one before it left, on whichever host it runs.
//
// Its one invariant: one job at a time changes a session, and a job that did not end leaves the files as they
// were. Who changes files holds a lease with a number that only grows, and a commit under an older number is refused.
//
// It may import internal/sandbox, go-redis and compression.
package workspace
