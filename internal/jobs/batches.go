package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// ErrBatchCanceled means that somebody canceled the batch.
var ErrBatchCanceled = errors.New("the batch was canceled")

// maxBatchName is the length in bytes up to which a batch can have a name.
const maxBatchName = 64

// trackScript changes the set of a batch's jobs. KEYS are the set and the mark of a canceled batch. ARGV: retention, how many ids
// to take out, these, and the ids to put in, which are refused once the mark is there. The reply is 1 then, else 0.
var trackScript = redis.NewScript(`
local first = 3 + tonumber(ARGV[2])
for i = 3, first - 1 do
	redis.call('SREM', KEYS[1], ARGV[i])
end
if redis.call('EXISTS', KEYS[2]) == 1 then
	return 1
end
for i = first, #ARGV do
	redis.call('SADD', KEYS[1], ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
`)

func checkBatch(name string) error {
	if !validName(name, maxBatchName) {
		return fmt.Errorf("batch: %.80q: want up to %d letters, digits, '-', '_' and '.'", name, maxBatchName)
	}
	return nil
}

// TrackBatch notes, before they are submitted, which jobs are of a batch, so that whoever cancels it finds them, and forgets those that have ended.
// The error is ErrBatchCanceled if none may be added any more. Doing it twice is as doing it once.
func (c *Client) TrackBatch(ctx context.Context, name string, add, ended []string) error {
	if err := checkBatch(name); err != nil {
		return err
	}
	args := []any{durationMillis(queuedRetention), strconv.Itoa(len(ended))}
	for _, id := range ended {
		args = append(args, id)
	}
	for _, id := range add {
		args = append(args, id)
	}
	canceled, err := trackScript.Run(ctx, c.store.rdb, c.store.keys.batch(name), args...).Int()
	switch {
	case err != nil:
		return fmt.Errorf("track batch %s: %w", name, err)
	case canceled == 1:
		return ErrBatchCanceled
	}
	return nil
}

// BatchCanceled tells whether somebody canceled the batch since it was last resumed.
func (c *Client) BatchCanceled(ctx context.Context, name string) (bool, error) {
	if err := checkBatch(name); err != nil {
		return false, err
	}
	n, err := c.store.rdb.Exists(ctx, c.store.keys.batchCanceled(name)).Result()
	if err != nil {
		return false, fmt.Errorf("read batch %s: %w", name, err)
	}
	return n > 0, nil
}

// ResumeBatch lets a batch go on that was canceled.
func (c *Client) ResumeBatch(ctx context.Context, name string) error {
	if err := checkBatch(name); err != nil {
		return err
	}
	if err := c.store.rdb.Del(ctx, c.store.keys.batchCanceled(name)).Err(); err != nil {
		return fmt.Errorf("resume batch %s: %w", name, err)
	}
	return nil
}

// BatchCancellation is what CancelBatch found and did.
type BatchCancellation struct {
	// Queued never run now. Running are ended by their workers, as Cancel says. Done had ended before.
	Queued  int `json:"queued"`
	Running int `json:"running"`
	Done    int `json:"done"`
	// RunningIDs name the jobs that were running.
	RunningIDs []string `json:"-"`
}

const (
	// cancelsAtOnce is how many jobs of a batch are canceled at the same time.
	cancelsAtOnce = 16
	// unbornPause is how long a job may take from being tracked to being submitted.
	unbornPause = time.Second
)

// CancelBatch ends a batch: every job of it that waits or runs is canceled, and who still submits for it is refused and
// ends. Canceling twice is as canceling once; what one call did the next one counts as done. A batch of which nothing is known has no jobs.
func (c *Client) CancelBatch(ctx context.Context, name string) (BatchCancellation, error) {
	return c.cancelBatch(ctx, name, func() error {
		select {
		case <-time.After(unbornPause):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// cancelBatch is CancelBatch with what it does to wait for jobs that are about to be submitted.
func (c *Client) cancelBatch(ctx context.Context, name string, wait func() error) (BatchCancellation, error) {
	if err := checkBatch(name); err != nil {
		return BatchCancellation{}, err
	}
	// The mark comes first: what is not in the set then is refused.
	if err := c.store.rdb.Set(ctx, c.store.keys.batchCanceled(name), formatTime(time.Now()), queuedRetention).Err(); err != nil {
		return BatchCancellation{}, fmt.Errorf("cancel batch %s: %w", name, err)
	}
	ids, err := c.store.rdb.SMembers(ctx, c.store.keys.batch(name)[0]).Result()
	if err != nil {
		return BatchCancellation{}, fmt.Errorf("cancel batch %s: %w", name, err)
	}
	var found BatchCancellation
	unborn, err := c.cancelAll(ctx, ids, &found)
	if err == nil && len(unborn) > 0 { // their producer may be about to submit them, or they ended long ago
		if err = wait(); err == nil {
			_, err = c.cancelAll(ctx, unborn, &found)
		}
	}
	if err != nil {
		return found, fmt.Errorf("cancel batch %s: %w", name, err)
	}
	return found, nil
}

// cancelAll cancels jobs, counts them, and returns those that there are not. Those that wait come first, or one would start in the
// slot of each that ends.
func (c *Client) cancelAll(ctx context.Context, ids []string, found *BatchCancellation) (unborn []string, err error) {
	states, err := c.states(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, state := range []State{Queued, Running} {
		var mu sync.Mutex
		cancels, cancelCtx := errgroup.WithContext(ctx)
		cancels.SetLimit(cancelsAtOnce)
		for _, id := range ids {
			if states[id] != state {
				continue
			}
			cancels.Go(func() error {
				after, err := c.Cancel(cancelCtx, id)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, ErrNotFound):
					unborn = append(unborn, id)
				case err != nil:
					return err
				case after.State == Running, after.State == Done && after.Outcome != sandbox.OutcomeCanceled: // it went on meanwhile
					found.count(id, after.State)
				default:
					found.count(id, state)
				}
				return nil
			})
		}
		if err := cancels.Wait(); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		switch states[id] {
		case Done:
			found.Done++
		case "":
			unborn = append(unborn, id)
		}
	}
	return unborn, nil
}

// states reads where jobs are; those that there are not have none.
func (c *Client) states(ctx context.Context, ids []string) (map[string]State, error) {
	states := make(map[string]State, len(ids))
	for chunk := range slices.Chunk(ids, hubBatch) {
		replies := make([]*redis.StringCmd, len(chunk))
		_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, id := range chunk {
				replies[i] = pipe.HGet(ctx, c.store.keys.state(id), fieldState)
			}
			return nil
		})
		if ignoreNil(err) != nil {
			return nil, fmt.Errorf("read states of jobs: %w", err)
		}
		for i, id := range chunk {
			if state := State(replies[i].Val()); state != "" {
				states[id] = state
			}
		}
	}
	return states, nil
}

func (b *BatchCancellation) count(id string, was State) {
	switch was {
	case Queued:
		b.Queued++
	case Running:
		b.Running++
		b.RunningIDs = append(b.RunningIDs, id)
	case Done:
		b.Done++
	}
}
