package jobs

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// listener hears what is meant for a worker: that a queue has something, and that one of
// its jobs was canceled. Both are hints; what a lost one meant is found out in a second.
type listener struct {
	worker *Worker
	pubsub *redis.PubSub
	wake   map[string]chan struct{} // by channel
}

func (w *Worker) newListener(ctx context.Context, wake map[Queue]chan struct{}) *listener {
	l := &listener{worker: w, wake: map[string]chan struct{}{}}
	channels := []string{w.store.keys.cancelChannel(w.id)}
	for queue, signal := range wake {
		channel := w.store.keys.wakeChannel(queue)
		l.wake[channel] = signal
		channels = append(channels, channel)
	}
	if w.options.Sessions != nil {
		channel := w.store.keys.wakeWorker(w.id)
		l.wake[channel] = w.forwards.wake
		channels = append(channels, channel)
	}
	l.pubsub = w.store.rdb.Subscribe(ctx, channels...)
	return l
}

// run hears messages until the subscription is closed.
func (l *listener) run() {
	for message := range l.pubsub.ChannelWithSubscriptions(redis.WithChannelSize(1024)) {
		switch message := message.(type) {
		case *redis.Subscription: // anew after a lost connection: something may have been missed
			if signal := l.wake[message.Channel]; signal != nil {
				notify(signal)
			} else {
				notify(l.worker.lookNow)
			}
		case *redis.Message:
			if signal := l.wake[message.Channel]; signal != nil {
				notify(signal)
			} else {
				l.worker.cancelAttempts(message.Payload)
			}
		}
	}
}

// cancelAttempts ends what runs of a job because somebody canceled it.
func (w *Worker) cancelAttempts(id string) {
	for _, a := range w.snapshot() {
		if a.ref.ID != id {
			continue
		}
		a.revoked.Store(true) // before the look, for one that begins at this moment
		if a.begun.Load() {
			a.cancel(sandbox.ErrCanceled)
		}
	}
}
