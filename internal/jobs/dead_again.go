package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// ErrProgramGone means that a dead letter's program is no longer kept.
var ErrProgramGone = errors.New("its program is no longer kept")

// retryDeadScript has a dead letter run again. ARGV: time, retention of a job that waits. The reply is gone, alive with state and outcome,
// bodiless, or again with state, dispatch and queue. A job that was retried and has no result yet is reported as again: whoever
// retried it may have gone before the task was enqueued.
var retryDeadScript = newScript(`
local state, outcome, dispatch, queue, retried = get('state', 'outcome', 'dispatch', 'queue', 'retried')
if not state then
	return {'gone'}
end
if state ~= 'done' and retried then
	return {'again', state, dispatch, queue}
end
if state ~= 'done' or outcome ~= 'infra_error' then
	return {'alive', state, outcome or ''}
end
if redis.call('EXISTS', KEYS[2]) == 0 then
	return {'bodiless'}
end
redis.call('DEL', KEYS[3])
redis.call('HDEL', KEYS[1], 'outcome', 'finished', 'token', 'released', 'cancel')
redis.call('HSET', KEYS[1], 'state', 'queued', 'failures', '0', 'retried', retried and retried .. ',' .. ARGV[1] or ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {'again', 'queued', tostring(redis.call('HINCRBY', KEYS[1], 'dispatch', 1)), queue}
`)

// deleteDeadScript forgets a dead letter. The reply is gone, alive with state and outcome, or deleted.
var deleteDeadScript = newScript(`
local state, outcome = get('state', 'outcome')
if not state then
	return {'gone'}
end
if state ~= 'done' or outcome ~= 'infra_error' then
	return {'alive', state, outcome or ''}
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return {'deleted'}
`)

// RetryDead has a dead letter run again under its id, with all its attempts anew. Its result is dropped, its history stays, and
// whoever waits for the job gets the new result. Retrying twice is as retrying once, until there is that result. The error is ErrNotFound,
// ErrNotDead or ErrProgramGone.
func (c *Client) RetryDead(ctx context.Context, id string) error {
	reply, listed, err := c.changeDead(ctx, retryDeadScript, id, formatTime(time.Now()), durationMillis(queuedRetention))
	if err != nil {
		return fmt.Errorf("retry %w", err)
	}
	if reply[0] == "bodiless" {
		return fmt.Errorf("retry job %s: %w", id, ErrProgramGone)
	}
	if State(reply[1]) == Queued {
		if err := c.store.dispatch(ctx, Queue(reply[3]), ref{ID: id}.renewed(reply[2])); err != nil {
			return fmt.Errorf("retry job %s: %w", id, err)
		}
	}
	return c.unlist(ctx, id, listed)
}

// DeleteDead forgets a dead letter: program, result and history. Its idempotency key is free then. The error is ErrNotFound or ErrNotDead.
func (c *Client) DeleteDead(ctx context.Context, id string) error {
	_, listed, err := c.changeDead(ctx, deleteDeadScript, id)
	if err != nil {
		return fmt.Errorf("delete %w", err)
	}
	return c.unlist(ctx, id, listed)
}

// changeDead runs a script on a dead letter. It returns where the letter was listed before, with its score there.
func (c *Client) changeDead(ctx context.Context, script *redis.Script, id string, args ...any) ([]string, map[Queue]float64, error) {
	if err := checkID(id); err != nil {
		return nil, nil, err
	}
	listed, err := c.listed(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	reply, err := c.store.run(ctx, script, id, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("job %s: %w", id, err)
	}
	switch reply[0] {
	case "gone":
		return nil, nil, errors.Join(fmt.Errorf("job %s: %w", id, ErrNotFound), c.unlist(ctx, id, listed))
	case "alive":
		return nil, nil, notDead(id, State(reply[1]), sandbox.Outcome(reply[2]))
	}
	return reply, listed, nil
}

// listed tells in which lists of dead letters a job is.
func (c *Client) listed(ctx context.Context, id string) (map[Queue]float64, error) {
	scores := map[Queue]*redis.FloatCmd{}
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, queue := range Queues() {
			scores[queue] = pipe.ZScore(ctx, c.store.keys.dead(queue), id)
		}
		return nil
	})
	if ignoreNil(err) != nil {
		return nil, fmt.Errorf("job %s: look for it among the dead letters: %w", id, err)
	}
	listed := map[Queue]float64{}
	for queue, score := range scores {
		if score.Err() == nil {
			listed[queue] = score.Val()
		}
	}
	return listed, nil
}

// unlistScript takes a job from a list unless it was listed anew meanwhile. ARGV: job, its score of before.
var unlistScript = redis.NewScript(`
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
return score and tonumber(score) == tonumber(ARGV[2]) and redis.call('ZREM', KEYS[1], ARGV[1]) or 0
`)

func (c *Client) unlist(ctx context.Context, id string, listed map[Queue]float64) error {
	for queue, score := range listed {
		err := unlistScript.Run(ctx, c.store.rdb, []string{c.store.keys.dead(queue)}, id, strconv.FormatFloat(score, 'f', -1, 64)).Err()
		if err != nil {
			return fmt.Errorf("take job %s from the dead letters: %w", id, err)
		}
	}
	return nil
}
