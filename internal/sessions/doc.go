// Package sessions runs the jobs of sessions on a worker: it puts the session's files under a program's own, keeps what
// the program made of them, and holds the live interpreters whose variables persist from call to call.
//
// Its one invariant: when a job begins, /workspace holds the files of the session as the last job that ended well left
// them, in a container of its own and in a live interpreter alike. What was not committed is never there for the next.
//
// It may import internal/jobs, for its contract alone, internal/live, internal/sandbox and internal/workspace. It
// knows neither Docker nor asynq.
package sessions
