package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrClosed means that the Client was closed while somebody waited.
var ErrClosed = errors.New("client is closed")

// AwaitError says that the time to wait was over before a job was done.
type AwaitError struct {
	// Status is what was known of the job at that time; only its ID is set if even that could not be read.
	Status Status
	// Err is the context's error.
	Err error
}

// Error says where the job is.
func (e *AwaitError) Error() string {
	if e.Status.State == "" {
		return fmt.Sprintf("await job %s: nothing is known of it: %v", e.Status.ID, e.Err)
	}
	return fmt.Sprintf("await job %s: it is still %s after attempt %d: %v", e.Status.ID, e.Status.State, e.Status.Attempt, e.Err)
}

// Unwrap returns the context's error.
func (e *AwaitError) Unwrap() error { return e.Err }

// maxAwait ends a wait whose context has no deadline.
const maxAwait = 24 * time.Hour

// Await waits until a job is done, for 24 h if ctx has no deadline. Thousands can wait at
// once on one connection. When ctx ends first the error is an *AwaitError; when there is no
// such job, ErrNotFound. It outlives every disturbance of the connection to Redis.
func (c *Client) Await(ctx context.Context, id string) (Record, error) {
	if err := checkID(id); err != nil {
		return Record{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxAwait)
	defer cancel()
	hub, err := c.hubOnce(ctx)
	if err != nil {
		return Record{}, err
	}
	waiter := hub.add(id)
	defer hub.remove(waiter)
	for {
		select {
		case <-waiter.ready:
		case <-hub.closed:
			return Record{}, fmt.Errorf("await job %s: %w", id, ErrClosed)
		case <-ctx.Done():
			return c.lastLook(ctx, id)
		}
		record, _, err := c.store.record(ctx, id)
		if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, errUnreadable) {
			return record, err
		}
		if !errors.Is(err, ErrNotDone) {
			c.store.log.DebugContext(ctx, "result not read, will try again", "job", id, "error", err)
		}
	}
}

// lastLook reads what is known of a job when the time to wait is over.
func (c *Client) lastLook(ctx context.Context, id string) (Record, error) {
	ended := ctx.Err()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	record, status, err := c.store.record(ctx, id)
	if err == nil {
		return record, nil
	}
	status.ID = id
	return Record{}, &AwaitError{Status: status, Err: ended}
}

func (c *Client) hubOnce(ctx context.Context) (*hub, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		return nil, ErrClosed
	}
	if c.hub == nil {
		c.hub = newHub(context.WithoutCancel(ctx), c.store, hubSweep) // it serves those who come later, too
	}
	return c.hub, nil
}
