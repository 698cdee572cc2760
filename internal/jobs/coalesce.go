package jobs

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// coalescing is a connection to Redis that admits the tasks of many goroutines by one script, because asynq has no call that enqueues
// more than one. It must be closed when no call is under way any more.
type coalescing struct {
	redis.UniversalClient
	calls chan *admitCall
	done  chan struct{}
}

type admitCall struct {
	*admission
	admitted chan struct{}
}

// coalesceMost bounds for how long one script has Redis for itself: about a millisecond.
const coalesceMost = 128

func newCoalescing(ctx context.Context, rdb redis.UniversalClient) *coalescing {
	c := &coalescing{UniversalClient: rdb, calls: make(chan *admitCall, coalesceMost), done: make(chan struct{})}
	go c.run(ctx)
	return c
}

func (c *coalescing) close() {
	close(c.calls)
	<-c.done
}

// admit does what admitTogether does, together with other callers.
func (c *coalescing) admit(a *admission) {
	call := &admitCall{admission: a, admitted: make(chan struct{})}
	c.calls <- call
	<-call.admitted
}

// run admits whatever has come together while the previous script was under way.
func (c *coalescing) run(ctx context.Context) {
	defer close(c.done)
	for first := range c.calls {
		batch := []*admitCall{first}
		for more := true; more && len(batch) < coalesceMost; {
			select {
			case call, open := <-c.calls:
				if more = open; open {
					batch = append(batch, call)
				}
			default:
				more = false
			}
		}
		byQueue := map[string][]*admission{}
		for _, call := range batch {
			byQueue[call.base] = append(byQueue[call.base], call.admission)
		}
		for _, tasks := range byQueue {
			admitTogether(ctx, c.UniversalClient, tasks)
		}
		for _, call := range batch {
			close(call.admitted)
		}
	}
}
