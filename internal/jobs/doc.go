// Package jobs is the queue: it carries a [Job] from whoever wants code run to a
// [Worker] and its [Record] back.
//
// Its one invariant: one job id has one result. The queue delivers at least once; a
// result is stored only by the attempt that owns the job and only if there is none,
// in one script, so that whatever dies or freezes on the way the job ends once.
//
// It imports internal/sandbox, asynq and go-redis. What runs a program is a [Runner];
// this package never imports the one that needs Docker.
package jobs
