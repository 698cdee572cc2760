package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// errWaitTimeout is the cause of a context that --wait-timeout ended.
var errWaitTimeout = errors.New("not done within --wait-timeout")

func addWaitTimeout(flags *pflag.FlagSet, target **sandbox.Seconds) {
	flags.Var(&optional[sandbox.Seconds]{target, "TIME", parseTime}, "wait-timeout", "how long to wait for the result; the job then goes on (default: without end)")
}

// waitContext bounds ctx by --wait-timeout. The returned function ends it with a cause.
func waitContext(ctx context.Context, limit *sandbox.Seconds) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if limit == nil {
		return ctx, cancel
	}
	bounded, stop := context.WithTimeoutCause(ctx, limit.Duration(), errWaitTimeout)
	return bounded, func(cause error) {
		cancel(cause)
		stop()
	}
}

// awaitError says what is known of a job whose result did not come.
func awaitError(id string, err error) error {
	var late *jobs.AwaitError
	if !errors.As(err, &late) {
		return jobError(err)
	}
	if late.Status.State == "" {
		return fmt.Errorf("job %s: nothing is known of it: Redis does not answer", id)
	}
	return fmt.Errorf("job %s is still %s and goes on: enqueue wait %s", id, late.Status.State, id)
}

// submitError gives the user's own mistakes, and a queue that is full, their exit codes.
func submitError(err error) error {
	var full *jobs.QuotaError
	if errors.As(err, &full) && full.RetryAfter > 0 {
		return exitWith(exitFull, err)
	}
	if full != nil || errors.Is(err, jobs.ErrConflict) || errors.Is(err, jobs.ErrTooLarge) {
		return usageError(err)
	}
	return err
}

// jobError adds to an error about a job what can be done.
func jobError(err error) error {
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return fmt.Errorf("%w, or its result is no longer kept", err)
	case errors.Is(err, jobs.ErrNotDone):
		return fmt.Errorf("%w yet: enqueue wait waits for it", err)
	}
	return err
}
