package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/jobs"
)

// jobFlags are what a command line says about the job around a program.
type jobFlags struct {
	program programFlags
	queue   string
	tenant  string
	key     string
	session jobs.Session
}

func (f *jobFlags) add(flags *pflag.FlagSet, queue jobs.Queue) {
	f.program.add(flags)
	flags.StringVar(&f.queue, "queue", string(queue), "`QUEUE`: interactive, default or batch")
	flags.StringVar(&f.tenant, "tenant", "", "`NAME` on whose behalf the job runs")
	flags.StringVar(&f.key, "key", "", "idempotency `KEY`: a repeated submission with the same key is the same job")
	flags.StringVar(&f.session.Name, "session", "", "`NAME` of the session whose files are in /workspace and are kept for its next job")
	flags.BoolVar(&f.session.Live, "live", false, "run the source in the session's live interpreter, whose variables persist")
	flags.BoolVar(&f.session.Restart, "restart", false, "start the session's live interpreter anew before")
}

// inSession returns the session that the flags name, or nil.
func (f *jobFlags) inSession() (*jobs.Session, error) {
	switch {
	case f.session.Live && f.session.Name == "":
		return nil, usagef("--live: there is no --session: want --session NAME, whose interpreter it is")
	case f.session.Restart && !f.session.Live:
		return nil, usagef("--restart: there is no --live: only a live interpreter is started anew")
	case f.session.Name == "":
		return nil, nil //nolint:nilnil // a job of no session
	}
	session := f.session
	return &session, nil
}

// job reads the program's file and checks against the configured limits all that can be
// checked without a worker, which has the last word.
func (f *jobFlags) job(ctx context.Context, a *app, s *settings, file string, args []string) (jobs.Job, error) {
	queue, err := jobs.ParseQueue(f.queue)
	if err != nil {
		return jobs.Job{}, usagef("--%w", err)
	}
	session, err := f.inSession()
	if err != nil {
		return jobs.Job{}, err
	}
	if file == "-" && f.program.stdin == "-" {
		return jobs.Job{}, usagef("--stdin -: standard input is the program already: name a file for one of the two")
	}
	main, err := a.readSource(ctx, file, s.defaults.InputBytes)
	if err != nil {
		return jobs.Job{}, err
	}
	program, err := f.program.program(ctx, a, s.languages, main, s.defaults.InputBytes-int64(len(main.data)))
	if err != nil {
		return jobs.Job{}, err
	}
	program.Args = append(program.Args, args...)
	if _, err := s.languages.Prepare(program, s.defaults, s.maxima); err != nil {
		return jobs.Job{}, refusal(err)
	}
	job := jobs.Job{Program: program, Queue: queue, Tenant: f.tenant, IdempotencyKey: f.key, Session: session}
	if err := job.Validate(); err != nil {
		return jobs.Job{}, usageError(err)
	}
	return job, nil
}
