// Package batch judges many submissions through the queue: it keeps a window of jobs in flight,
// hands out each result once, and goes on where an earlier run of the same batch was interrupted.
//
// Its one invariant: an entry has one result in a results file that counts, whatever happens to the client, to
// Redis or to workers on the way, and a job that is under way is never submitted beside itself.
// Memory is that of the window and 8 bytes an entry.
//
// It imports internal/grade, its report, internal/jobs and internal/sandbox, and no command.
package batch
