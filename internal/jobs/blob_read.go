package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/seal"
)

// ErrNoBlob means that Redis does not hold a blob that a job names. The job is given up at once: what
// the master does not hold does not come back by itself, not after a failover either, and only
// whoever submits can put it again.
var ErrNoBlob = errors.New("the test data is not in Redis any more; submit again")

// blobTime bounds how long a worker tries to read a blob while Redis does not answer.
const blobTime = 2 * time.Minute

// read returns a blob, and outlasts a restart of Redis.
func (b *Blobs) read(ctx context.Context, id string) ([]byte, error) {
	deadline := time.Now().Add(blobTime)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		content, err := b.readOnce(ctx, id)
		if err == nil || errors.Is(err, ErrNoBlob) || errors.Is(err, seal.ErrUnknownKey) || ctx.Err() != nil || time.Now().After(deadline) {
			return content, err
		}
		b.store.log.WarnContext(ctx, "blob not read, will try again", "blob", id, "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// readOnce reads a blob and checks it. One that is not what its id says is read once more, since
// it may have been replaced between two pieces; then it is removed, so that it can be put again.
func (b *Blobs) readOnce(ctx context.Context, id string) ([]byte, error) {
	var problem error
	for range 2 {
		stored, err := b.readPacked(ctx, id)
		if err != nil {
			return nil, err
		}
		packed, err := b.store.seals.Open(b.store.keys.blob(id), stored)
		if errors.Is(err, seal.ErrUnknownKey) { // others can read it
			return nil, fmt.Errorf("read blob %s: %w", id, hintSeal(err))
		}
		var content []byte
		if err == nil {
			content, err = blobContent.unpack(packed)
		}
		if err == nil && grade.BlobID(content) == id {
			return content, nil
		}
		if problem = err; err == nil {
			problem = errors.New("its content has another hash")
		}
	}
	b.store.log.ErrorContext(ctx, "blob is damaged and removed", "blob", id, "error", problem)
	if err := b.store.rdb.Del(ctx, b.store.keys.blob(id)).Err(); err != nil {
		return nil, fmt.Errorf("remove damaged blob %s: %w", id, err)
	}
	return nil, fmt.Errorf("blob %s was damaged (%w): %w", id, problem, ErrNoBlob)
}

func (b *Blobs) readPacked(ctx context.Context, id string) ([]byte, error) {
	var packed []byte
	for {
		piece, err := b.store.rdb.GetRange(ctx, b.store.keys.blob(id), int64(len(packed)), int64(len(packed)+bodyPiece-1)).Bytes()
		if err != nil {
			return nil, fmt.Errorf("read blob %s: %w", id, err)
		}
		packed = append(packed, piece...)
		switch {
		case len(packed) == 0:
			return nil, fmt.Errorf("blob %s: %w", id, ErrNoBlob)
		case len(piece) < bodyPiece || len(packed) > blobContent.maxStored(): // a part is not what its id says
			return packed, nil
		}
	}
}
