// Package toolbox is what an agent's model has as hands: tools that run code in sandboxes through the queue, and that
// read and write the files of a session.
//
// Its one invariant: a call always ends in a result. A wrong argument, a queue that cannot be reached, a worker that does
// not come, the end of the caller's context: each is a result marked as an error that says what to do next, and no
// job goes on that nobody can ask about.
//
// It may import internal/agent, explain, jobs, sandbox and workspace, and never what runs the jobs.
package toolbox
