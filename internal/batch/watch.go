package batch

import (
	"context"
	"fmt"
	"time"
)

// notice passes a text on to whoever waits.
func (r *run) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.tell(func() error { r.options.Notice(text); return nil })
}

// trouble says once that Redis does not do its part.
func (r *run) trouble(err error) {
	if !r.troubled.Swap(true) {
		r.notice("%v: will try again until Redis answers", err)
	}
}

// calm takes back what trouble said.
func (r *run) calm() {
	if r.troubled.Swap(false) {
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
		if now := r.endings.Load(); now != last {
			last = now
			deserted = false
			continue
		}
		stats, err := r.client.Stats(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.trouble(err)
			continue
		case len(stats.Workers) == 0 && !deserted:
			r.notice("no worker is running: the batch waits for one")
		}
		r.calm()
		deserted = len(stats.Workers) == 0
	}
}
