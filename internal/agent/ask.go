package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// maxTries is how often a turn is asked for when the provider fails in ways that pass.
	maxTries = 5
	// firstWait is the pause after the first failure; it doubles with each, up to maxWait.
	firstWait, maxWait = time.Second, 30 * time.Second
	// maxAsked is the longest pause that a provider can ask for; for more the run ends, and people decide.
	maxAsked = 2 * time.Minute
)

// ask has the model say its next turn, and asks again when the provider fails in a way that passes.
func (r *run) ask(ctx context.Context) (AssistantTurn, error) {
	r.tell(Event{Kind: EventTurn})
	for try := 1; ; try++ {
		turn, err := r.model.NextTurn(ctx, r.transcript, r.specs, func(piece string) {
			r.tell(Event{Kind: EventText, Text: piece})
		})
		if err == nil {
			return turn, nil
		}
		var failure *ProviderError
		if ctx.Err() != nil || !errors.As(err, &failure) || !failure.Temporary() {
			return AssistantTurn{}, err
		}
		if try == maxTries {
			return AssistantTurn{}, fmt.Errorf("after %d tries: %w", maxTries, err)
		}
		wait := max(backoff(try), failure.RetryAfter)
		if wait > maxAsked {
			return AssistantTurn{}, fmt.Errorf("%w; it asks to try again in %s, which is longer than a run waits", err, failure.RetryAfter)
		}
		r.tell(Event{Kind: EventRetry, Text: failure.Error(), Wait: wait})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return AssistantTurn{}, context.Cause(ctx)
		}
	}
}

// backoff is 1 s after the first try, then 2, 4 and so on, each within a quarter of that, so that many runs that failed
// together do not come back together.
func backoff(try int) time.Duration {
	wait := min(firstWait<<(try-1), maxWait)
	return wait*3/4 + rand.N(wait/2) //nolint:gosec // chance, not secrecy
}
