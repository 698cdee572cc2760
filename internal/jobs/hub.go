package jobs

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// hubSweep is how often all jobs that somebody waits for are looked at, so that a lost
	// message costs that time and not the result.
	hubSweep = 2 * time.Second
	// hubBatch is how many jobs are looked at in one round trip.
	hubBatch = 500
)

// hub tells waiters that their job may be done. It has one subscription for all of them. A
// job is looked at whenever its subscription is confirmed, anew after each lost connection,
// so that what happened before is not missed.
type hub struct {
	store  *store
	pubsub *redis.PubSub
	closed chan struct{}
	loops  sync.WaitGroup
	look   chan struct{} // capacity 1: there is something in suspects
	alter  chan struct{} // capacity 1: there is something in altered

	mu       sync.Mutex
	waiters  map[string]map[*waiter]struct{}
	suspects map[string]struct{} // jobs to look at
	altered  map[string]struct{} // jobs that got their first or lost their last waiter
	isClosed bool
}

// waiter is one Await.
type waiter struct {
	id    string
	ready chan struct{} // capacity 1
}

// notify puts a signal into a channel of capacity 1, where one is enough.
func notify(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

func newHub(ctx context.Context, s *store, sweep time.Duration) *hub {
	h := &hub{
		store: s, pubsub: s.rdb.Subscribe(ctx), closed: make(chan struct{}),
		look: make(chan struct{}, 1), alter: make(chan struct{}, 1),
		waiters: map[string]map[*waiter]struct{}{}, suspects: map[string]struct{}{}, altered: map[string]struct{}{},
	}
	h.loops.Go(h.listen)
	h.loops.Go(func() { h.check(ctx, sweep) })
	h.loops.Go(func() { h.subscribe(ctx) })
	return h
}

// close ends the subscription and waits for the loops.
func (h *hub) close() error {
	h.mu.Lock()
	if h.isClosed {
		h.mu.Unlock()
		return nil
	}
	h.isClosed = true
	close(h.closed)
	h.mu.Unlock()
	err := h.pubsub.Close()
	h.loops.Wait()
	return err
}

// add registers a waiter; its job is looked at once the subscription stands.
func (h *hub) add(id string) *waiter {
	w := &waiter{id: id, ready: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters[id] == nil {
		h.waiters[id] = map[*waiter]struct{}{}
	}
	h.waiters[id][w] = struct{}{}
	if len(h.waiters[id]) == 1 {
		h.altered[id] = struct{}{}
		notify(h.alter)
	} else {
		h.suspect(id)
	}
	return w
}

func (h *hub) remove(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiters[w.id], w)
	if len(h.waiters[w.id]) > 0 {
		return
	}
	delete(h.waiters, w.id)
	delete(h.suspects, w.id)
	h.altered[w.id] = struct{}{}
	notify(h.alter)
}

// subscribe keeps the subscription to the channels of the jobs that somebody waits for.
// When there is no connection, go-redis subscribes to all of them once there is one.
func (h *hub) subscribe(ctx context.Context) {
	subscribed := map[string]bool{}
	for {
		select {
		case <-h.closed:
			return
		case <-h.alter:
		}
		var added, removed []string
		h.mu.Lock()
		for id := range h.altered {
			channel, wanted := h.store.keys.doneChannel(id), h.waiters[id] != nil
			switch {
			case wanted && !subscribed[id]:
				added, subscribed[id] = append(added, channel), true
			case wanted:
				h.suspect(id) // its channel was never left, so nothing will be confirmed
			case subscribed[id]:
				removed = append(removed, channel)
				delete(subscribed, id)
			}
		}
		clear(h.altered)
		h.mu.Unlock()
		if len(removed) > 0 {
			_ = h.pubsub.Unsubscribe(ctx, removed...)
		}
		if len(added) > 0 {
			_ = h.pubsub.Subscribe(ctx, added...)
		}
	}
}

// suspect marks a job to be looked at. The caller holds mu.
func (h *hub) suspect(id string) {
	h.suspects[id] = struct{}{}
	notify(h.look)
}

func (h *hub) wake(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[id] {
		notify(w.ready)
	}
}

// listen hears the messages until the subscription is closed.
func (h *hub) listen() {
	prefix := h.store.keys.doneChannel("")
	for message := range h.pubsub.ChannelWithSubscriptions(redis.WithChannelSize(1024)) {
		switch message := message.(type) {
		case *redis.Message:
			h.wake(strings.TrimPrefix(message.Channel, prefix))
		case *redis.Subscription:
			id := strings.TrimPrefix(message.Channel, prefix)
			h.mu.Lock()
			if message.Kind == "subscribe" && h.waiters[id] != nil {
				h.suspect(id)
			}
			h.mu.Unlock()
		}
	}
}

// check looks at suspects as they come and at every job now and then.
func (h *hub) check(ctx context.Context, period time.Duration) {
	sweep := time.NewTicker(period)
	defer sweep.Stop()
	for {
		select {
		case <-h.closed:
			return
		case <-h.look:
		case <-sweep.C:
			h.mu.Lock()
			for id := range h.waiters {
				h.suspects[id] = struct{}{}
			}
			h.mu.Unlock()
		}
		for ids := h.take(); len(ids) > 0; ids = h.take() {
			h.checkJobs(ctx, ids)
		}
	}
}

func (h *hub) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]string, 0, min(len(h.suspects), hubBatch))
	for id := range h.suspects {
		if len(ids) == hubBatch || h.isClosed {
			break
		}
		delete(h.suspects, id)
		ids = append(ids, id)
	}
	return ids
}

// checkJobs wakes the waiters of jobs that are done or gone. A job that could not be read
// is looked at in the next sweep.
func (h *hub) checkJobs(ctx context.Context, ids []string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	states := make([]*redis.StringCmd, len(ids))
	_, _ = h.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error { // each command has its own error
		for i, id := range ids {
			states[i] = pipe.HGet(ctx, h.store.keys.state(id), fieldState)
		}
		return nil
	})
	for i, id := range ids {
		state, err := states[i].Result()
		if errors.Is(err, redis.Nil) || (err == nil && State(state) == Done) {
			h.wake(id)
		}
	}
}
