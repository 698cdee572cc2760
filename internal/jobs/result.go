package jobs

import "context"

// Result reads what became of a job. The error is ErrNotDone while it waits or runs, and
// ErrNotFound when there is no such job or its retention is over.
func (c *Client) Result(ctx context.Context, id string) (Record, error) {
	record, _, err := c.store.record(ctx, id)
	return record, err
}

// Status tells where a job is. The error is ErrNotFound as for Result.
func (c *Client) Status(ctx context.Context, id string) (Status, error) {
	return c.store.status(ctx, id)
}
