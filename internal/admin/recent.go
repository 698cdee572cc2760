package admin

import (
	"context"
	"sync"
	"time"
)

const (
	// fresh is how long an answer counts.
	fresh = time.Second
	// patience is how long one is waited for.
	patience = 2 * time.Second
)

// Recent asks somebody at most once a second, however many want to know. It is safe for concurrent use.
type Recent[T any] struct {
	ask func(context.Context) (T, error)

	mu    sync.Mutex
	value T
	err   error
	at    time.Time
}

// NewRecent makes one. ask must return soon after its context has ended, which it does after 2 s.
func NewRecent[T any](ask func(context.Context) (T, error)) *Recent[T] { return &Recent[T]{ask: ask} }

// Get returns the last answer if it is less than a second old, or a new one. What it asks for is for everybody, so ctx
// only carries values.
func (r *Recent[T]) Get(ctx context.Context) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) >= fresh {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		r.value, r.err = r.ask(ctx)
		r.at = time.Now()
	}
	return r.value, r.err
}
