package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/grade"
)

const (
	// blobRetention is how long a blob is kept after it was last put: as long as a queued job.
	blobRetention = queuedRetention
	// partRetention is how long the pieces of a blob are kept whose client does not go on.
	partRetention = time.Hour
	// blobChunk is how many ids travel in one round trip.
	blobChunk = 1000
)

// PutBlobs stores data that many jobs share, such as inputs, answers and whole suites, and returns their ids, which are those of grade.BlobID. What is there
// already is not sent again, and all of them are kept for 30 days from now on: as long as a job that is
// submitted next waits at most. A content of more than grade.MaxBlob bytes is ErrTooLarge. A call that
// failed can be repeated.
func (c *Client) PutBlobs(ctx context.Context, contents ...[]byte) ([]string, error) {
	ids := make([]string, len(contents))
	byID := make(map[string][]byte, len(contents))
	for i, content := range contents {
		if len(content) > grade.MaxBlob {
			return nil, fmt.Errorf("put blob %d of %d: %w: %d bytes, want at most %d", i+1, len(contents), ErrTooLarge, len(content), grade.MaxBlob)
		}
		ids[i] = grade.BlobID(content)
		byID[ids[i]] = content
	}
	there, err := c.HasBlobs(ctx, ids...)
	if err != nil {
		return nil, err
	}
	batch := blobBatch{client: c}
	for id, content := range byID {
		if there[id] {
			continue
		}
		if err := batch.add(ctx, id, c.store.seals.Seal(c.store.keys.blob(id), pack(content))); err != nil {
			return nil, err
		}
	}
	return ids, batch.send(ctx)
}

// HasBlobs tells which of the blobs are there, and keeps those for 30 days from now on.
func (c *Client) HasBlobs(ctx context.Context, ids ...string) (map[string]bool, error) {
	there := make(map[string]bool, len(ids))
	for _, id := range ids {
		if !grade.IsBlobID(id) {
			return nil, fmt.Errorf("look for blobs: %.80q is no blob's id: want 64 hex digits in lower case", id)
		}
	}
	for chunk := range slices.Chunk(ids, blobChunk) {
		kept := make([]*redis.BoolCmd, len(chunk))
		_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, id := range chunk {
				kept[i] = pipe.PExpire(ctx, c.store.keys.blob(id), blobRetention)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for blobs: %w", err)
		}
		for i, id := range chunk {
			there[id] = kept[i].Val()
		}
	}
	return there, nil
}

// blobBatch sends small blobs together, up to submitBytes in a round trip.
type blobBatch struct {
	client *Client
	packed map[string][]byte
	size   int
}

func (b *blobBatch) add(ctx context.Context, id string, packed []byte) error {
	if len(packed) > bodyPiece {
		return b.client.putLarge(ctx, id, packed)
	}
	if b.size+len(packed) > submitBytes || len(b.packed) == blobChunk {
		if err := b.send(ctx); err != nil {
			return err
		}
	}
	if b.packed == nil {
		b.packed = map[string][]byte{}
	}
	b.packed[id] = packed
	b.size += len(packed)
	return nil
}

func (b *blobBatch) send(ctx context.Context) error {
	if len(b.packed) == 0 {
		return nil
	}
	_, err := b.client.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for id, packed := range b.packed {
			pipe.Set(ctx, b.client.store.keys.blob(id), packed, blobRetention)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put %d blobs: %w", len(b.packed), err)
	}
	b.packed, b.size = nil, 0
	return nil
}

// publishScript gives a blob that came in pieces its name. KEYS: pieces and blob. ARGV:
// retention. The reply is 1 if the blob is there.
var publishScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
	redis.call('RENAME', KEYS[1], KEYS[2])
end
return redis.call('PEXPIRE', KEYS[2], ARGV[1])
`)

// putLarge sends a blob in pieces, so that a slow connection does not run into a timeout. Nobody
// sees it before it is whole. Each command can be sent again after its reply was lost.
func (c *Client) putLarge(ctx context.Context, id string, packed []byte) error {
	part, whole := c.store.keys.blobPart(id, newToken()), c.store.keys.blob(id)
	for at := 0; at < len(packed); at += bodyPiece {
		piece := packed[at:min(at+bodyPiece, len(packed))]
		if err := c.store.rdb.SetRange(ctx, part, int64(at), string(piece)).Err(); err != nil {
			return fmt.Errorf("put blob %s: %w", id, err)
		}
		if err := c.store.rdb.PExpire(ctx, part, partRetention).Err(); err != nil {
			return fmt.Errorf("put blob %s: %w", id, err)
		}
	}
	there, err := publishScript.Run(ctx, c.store.rdb, []string{part, whole}, durationMillis(blobRetention)).Bool()
	if err != nil {
		return fmt.Errorf("put blob %s: %w", id, err)
	}
	if !there {
		return fmt.Errorf("put blob %s: its pieces were lost on the way", id)
	}
	return nil
}
