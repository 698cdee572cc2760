package jobs

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/seal"
)

// Blobs reads blobs for a worker and keeps those that were used last in memory. It is safe
// for concurrent use: several who want the same blob at once cause one transfer.
type Blobs struct {
	store *store
	limit int64

	mu      sync.Mutex
	entries map[string]*list.Element // of *blobEntry
	recent  list.List                // the one used last is in front
	size    int64                    // of all entries
	fetches map[string]*blobFetch
}

type blobEntry struct {
	id      string
	content []byte
}

// entryBytes is what an entry takes beside its content, about.
const entryBytes = 512

func (e *blobEntry) size() int64 { return int64(cap(e.content)) + entryBytes }

// blobFetch is a transfer that is under way. Its content and err are there once done is closed.
type blobFetch struct {
	done    chan struct{}
	content []byte
	err     error
	cancel  context.CancelFunc
	waiters int // guarded by Blobs.mu
}

// NewBlobs makes a reader of the blobs below a prefix, DefaultPrefix when empty, that keeps up to cacheBytes of
// them in memory; 0 keeps none. The seals are those of the Client that put them, nil for none. The connection stays the caller's; a nil log is silence.
func NewBlobs(rdb redis.UniversalClient, prefix string, cacheBytes int64, seals *seal.Keys, log *slog.Logger) *Blobs {
	return &Blobs{
		store: newStore(rdb, prefix, 0, seals, log), limit: cacheBytes,
		entries: map[string]*list.Element{}, fetches: map[string]*blobFetch{},
	}
}

// Get returns a blob, which others read too and nobody may change. The content is what the id
// says. The error is ErrNoBlob when there is no such blob. While Redis does not answer, Get tries
// again for two minutes.
func (b *Blobs) Get(ctx context.Context, id string) ([]byte, error) {
	if !grade.IsBlobID(id) {
		return nil, fmt.Errorf("blob %.80q: %w", id, ErrNoBlob)
	}
	b.mu.Lock()
	if element, cached := b.entries[id]; cached {
		b.recent.MoveToFront(element)
		b.mu.Unlock()
		return element.Value.(*blobEntry).content, nil
	}
	fetch, underWay := b.fetches[id]
	if !underWay {
		fetch = b.start(ctx, id)
	}
	fetch.waiters++
	b.mu.Unlock()
	select {
	case <-fetch.done:
		return fetch.content, fetch.err
	case <-ctx.Done():
		b.leave(id, fetch)
		return nil, fmt.Errorf("read blob %s: %w", id, context.Cause(ctx))
	}
}

// start begins a transfer, which goes on as long as anybody waits for it. The caller holds mu.
func (b *Blobs) start(ctx context.Context, id string) *blobFetch {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	fetch := &blobFetch{done: make(chan struct{}), cancel: cancel}
	b.fetches[id] = fetch
	go func() {
		defer cancel()
		content, err := b.read(ctx, id)
		b.mu.Lock()
		defer b.mu.Unlock()
		fetch.content, fetch.err = content, err
		b.forget(id, fetch)
		if err == nil {
			b.keep(&blobEntry{id: id, content: content})
		}
		close(fetch.done)
	}()
	return fetch
}

// leave is for who does not wait any more. The last one ends the transfer, and who comes
// after that starts another.
func (b *Blobs) leave(id string, fetch *blobFetch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fetch.waiters--; fetch.waiters == 0 {
		fetch.cancel()
		b.forget(id, fetch)
	}
}

// forget removes a transfer unless another one has taken its place. The caller holds mu.
func (b *Blobs) forget(id string, fetch *blobFetch) {
	if b.fetches[id] == fetch {
		delete(b.fetches, id)
	}
}

// keep puts a blob in front and drops others until all fit. The caller holds mu.
func (b *Blobs) keep(entry *blobEntry) {
	if _, cached := b.entries[entry.id]; cached || entry.size() > b.limit {
		return
	}
	b.entries[entry.id] = b.recent.PushFront(entry)
	b.size += entry.size()
	for b.size > b.limit {
		oldest := b.recent.Remove(b.recent.Back()).(*blobEntry)
		delete(b.entries, oldest.id)
		b.size -= oldest.size()
	}
}
