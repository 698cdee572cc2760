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

// StepAttempt is the step of an Output that is not output: it says that another attempt of
// the job begins, whose number is its data, and that what came before was of one that failed.
const StepAttempt = "attempt"

// followBlock is how long one read waits for output; then the job's status is looked at.
const followBlock = 500 * time.Millisecond

// Follow passes on the output of a job with Job.Follow, from the beginning, until the job
// is done. Of a job that is done it passes on what is still kept, at most 10 minutes. Output
// is a courtesy: what could not be sent is missing here and not in the result. While it
// waits it holds one connection of the pool. Errors are ErrNotFound and the context's.
func (c *Client) Follow(ctx context.Context, id string, emit func(sandbox.Output)) error {
	last := "0"
	for {
		status, statusErr := c.store.status(ctx, id)
		if errors.Is(statusErr, ErrNotFound) {
			return statusErr
		}
		block := followBlock
		if statusErr == nil && status.State == Done {
			block = -1 // everything that there will be is there
		}
		entries, err := c.readOutput(ctx, id, last, block)
		for _, entry := range entries {
			last = entry.ID
			c.store.emitEntry(id, entry, emit)
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("follow job %s: %w", id, context.Cause(ctx))
		case err != nil || statusErr != nil:
			c.store.log.DebugContext(ctx, "output not read, will try again", "job", id, "error", errors.Join(err, statusErr))
			select {
			case <-time.After(followBlock):
			case <-ctx.Done():
			}
		case block < 0 && len(entries) == 0:
			return nil
		}
	}
}

func (c *Client) readOutput(ctx context.Context, id, last string, block time.Duration) ([]redis.XMessage, error) {
	streams, err := c.store.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{c.store.keys.output(id), last}, Count: 256, Block: block,
	}).Result()
	if errors.Is(err, redis.Nil) || len(streams) == 0 {
		return nil, ignoreNil(err)
	}
	return streams[0].Messages, err
}

func ignoreNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// emitEntry passes on an entry of the stream of a job's output. Output that cannot be opened is left out, as what could not be sent is.
func (s *store) emitEntry(id string, entry redis.XMessage, emit func(sandbox.Output)) {
	text := func(field string) string { value, _ := entry.Values[field].(string); return value }
	switch text(outputKind) {
	case "":
		output := sandbox.Output{Step: text(outputStep), Stream: sandbox.StreamName(text(outputStream)), Data: sandbox.Bytes(text(outputData))}
		if sealed := text(outputSealed); s.seals != nil || sealed != "" {
			data, err := s.seals.Open(s.outputPlace(id, output), []byte(sealed))
			if err != nil {
				s.log.Debug("output not opened", "job", id, "error", err)
				return
			}
			output.Data = data
		}
		emit(output)
	case kindAttempt:
		if number, err := strconv.Atoi(text(outputAttempt)); err == nil && number > 1 {
			emit(sandbox.Output{Step: StepAttempt, Data: sandbox.Bytes(strconv.Itoa(number))})
		}
	}
}
