package batch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// notice passes a text on to whoever waits.
func (r *run) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.tell(func() error { r.options.Notice(text); return nil })
}

// outage is what is known of Redis not doing its part, by who noticed it.
type outage struct {
	mu         sync.Mutex
	submitting bool
	watching   bool
}

// trouble says once that Redis does not do its part. which is a field of r.outage.
func (r *run) trouble(which *bool, err error) {
	r.outage.mu.Lock()
	said := r.outage.submitting || r.outage.watching
	*which = true
	r.outage.mu.Unlock()
	if !said {
		r.notice("%v: will try again until Redis answers", err)
	}
}

// calm takes back what trouble said, unless there is another reason for it.
func (r *run) calm(which *bool) {
	r.outage.mu.Lock()
	over := *which
	*which = false
	over = over && !r.outage.submitting && !r.outage.watching
	r.outage.mu.Unlock()
	if over {
		r.notice("Redis answers again")
	}
}

// watch looks, when no job has ended for a while, whether Redis answers and workers are there.
// Those who await would wait without a word.
func (r *run) watch(ctx context.Context, finished <-chan struct{}) {
	ticker := time.NewTicker(r.options.WatchEvery)
	defer ticker.Stop()
	deserted := false
	for last := int64(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-finished:
			return
		case <-ticker.C:
		}
		if r.isCanceled(ctx) {
			return
		}
		if now := r.endings.Load(); now != last {
			last, deserted = now, false
			continue
		}
		stats, err := r.client.Stats(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.trouble(&r.outage.watching, err)
			continue
		case len(stats.Workers) == 0 && !deserted:
			r.notice("no worker is running: the batch waits for one")
		}
		r.calm(&r.outage.watching)
		deserted = len(stats.Workers) == 0
	}
}
