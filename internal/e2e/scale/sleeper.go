package scale

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Sleep is a program that a Sleeper runs for the given time.
func Sleep(d time.Duration) sandbox.Program {
	return sandbox.Program{Language: "sleep", Source: sandbox.Bytes(d.String())}
}

// Sleeper is a jobs.Runner whose programs take the time that their source says, and no CPU. It is safe for concurrent use.
type Sleeper struct {
	// Override, if not nil, is the time that every program takes whatever its source says.
	Override *time.Duration
	// Started and Ended count runs; one that was cut short has not ended.
	Started, Ended atomic.Int64
}

// Run waits. The output of a program is its job's id and its attempt.
func (s *Sleeper) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	d, err := time.ParseDuration(string(program.Source))
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("run sleep: %w", err)
	}
	if s.Override != nil {
		d = *s.Override
	}
	s.Started.Add(1)
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, sandbox.ErrCanceled) {
				return sandbox.Result{}, cause
			}
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil
		}
	}
	s.Ended.Add(1)
	text := fmt.Appendf(nil, "%s %d\n", program.ID, program.Attempt)
	return sandbox.Result{
		Outcome: sandbox.OutcomeOK, OK: true, Duration: sandbox.Seconds(d), Stdout: sandbox.NewStream(text, nil, int64(len(text))),
	}, nil
}

// KillOlder does nothing: what sleeps ends with its process.
func (s *Sleeper) KillOlder(context.Context, string, int) error { return nil }
