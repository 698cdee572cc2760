package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

// DeadLetter is a job that was given up because our own machinery failed on it every time. It is kept, program and
// all, for as long as its result is.
type DeadLetter struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant,omitempty"`
	Queue  Queue  `json:"queue"`
	// Language is empty if it cannot be read, as that of a large job that is sealed.
	Language    string    `json:"language,omitempty"`
	SubmittedAt time.Time `json:"submitted_at"`
	// DiedAt is when the job was given up.
	DiedAt time.Time `json:"died_at"`
	// Error is what failed last.
	Error string `json:"error"`
	// RetriedAt is when somebody had it run again, each time after it had been given up.
	RetriedAt []time.Time `json:"retried_at,omitempty"`
	// Attempts are all tries in order.
	Attempts []Attempt `json:"attempts"`
}

// DeadFilter chooses dead letters; the zero value chooses all.
type DeadFilter struct {
	// Queue is every queue when empty.
	Queue Queue
	// Tenant is every tenant when nil; an empty one is that of the jobs without a tenant.
	Tenant *string
}

// deadChunk is how many dead letters are read in one round trip.
const deadChunk = 50

// DeadLetters reads the dead letters, the latest first. What is given up after the call has begun is not among them. An error ends the sequence.
func (c *Client) DeadLetters(ctx context.Context, filter DeadFilter) iter.Seq2[DeadLetter, error] {
	return func(yield func(DeadLetter, error) bool) {
		ids, err := c.deadIDs(ctx, filter.Queue)
		if err != nil {
			yield(DeadLetter{}, err)
			return
		}
		for chunk := range slices.Chunk(ids, deadChunk) {
			letters, err := c.readDead(ctx, chunk)
			if err != nil {
				yield(DeadLetter{}, err)
				return
			}
			for _, letter := range letters {
				if (filter.Tenant == nil || *filter.Tenant == letter.Tenant) && !yield(letter, nil) {
					return
				}
			}
		}
	}
}

// DeadLetter reads one dead letter, and the job as it was submitted. The error is ErrNotFound or ErrNotDead.
func (c *Client) DeadLetter(ctx context.Context, id string) (DeadLetter, Job, error) {
	status, err := c.store.status(ctx, id)
	if err != nil {
		return DeadLetter{}, Job{}, err
	}
	letters, err := c.readDead(ctx, []string{id})
	if err != nil {
		return DeadLetter{}, Job{}, err
	}
	if len(letters) == 0 {
		return DeadLetter{}, Job{}, notDead(id, status.State, status.Outcome)
	}
	body, err := c.store.rdb.GetRange(ctx, c.store.keys.body(id), 0, bodyPiece-1).Result()
	if err == nil {
		body, err = c.store.readRest(ctx, id, body)
	}
	if err != nil {
		return DeadLetter{}, Job{}, fmt.Errorf("read job %s: %w", id, err)
	}
	job, err := c.store.decodeBody(id, []byte(body))
	if err != nil {
		return DeadLetter{}, Job{}, fmt.Errorf("decode body of job %s: %w", id, hintSeal(err))
	}
	job.ID, job.SubmittedAt = id, letters[0].SubmittedAt
	return letters[0], job, nil
}

// deadIDs lists what was given up, the latest first. The list is only where to look: whether a job is dead its state tells.
func (c *Client) deadIDs(ctx context.Context, only Queue) ([]string, error) {
	var lists []*redis.ZSliceCmd
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, queue := range Queues() {
			if only == "" || only == queue {
				lists = append(lists, pipe.ZRangeWithScores(ctx, c.store.keys.dead(queue), 0, -1))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	var all []redis.Z
	for _, list := range lists {
		all = append(all, list.Val()...)
	}
	slices.SortStableFunc(all, func(a, b redis.Z) int { return cmp.Compare(b.Score, a.Score) })
	ids := make([]string, 0, len(all))
	for _, entry := range all {
		if id, ok := entry.Member.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// bodyHead is how many bytes of a body are enough to read its first fields: more than a block of compressed data.
const bodyHead = 136 << 10

const (
	// headPlain is how many bytes of a body before it is packed are enough for the same.
	headPlain = 64 << 10
	// headWindow is twice as many bytes as the compression of a body looks back at most.
	headWindow = 8 << 20
)

// readDead reads those of the jobs that are dead.
func (c *Client) readDead(ctx context.Context, ids []string) ([]DeadLetter, error) {
	states, heads := make([]*redis.MapStringStringCmd, len(ids)), make([]*redis.StringCmd, len(ids))
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, id := range ids {
			states[i], heads[i] = pipe.HGetAll(ctx, c.store.keys.state(id)), pipe.GetRange(ctx, c.store.keys.body(id), 0, bodyHead-1)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", err)
	}
	letters := make([]DeadLetter, 0, len(ids))
	for i, id := range ids {
		fields := states[i].Val()
		status := parseStatus(id, fields)
		if status.State != Done || status.Outcome != sandbox.OutcomeInfraError {
			continue
		}
		letter := DeadLetter{
			ID: id, Tenant: status.Tenant, Queue: status.Queue, Language: bodyLanguage(c.store.openHead(id, heads[i].Val())),
			SubmittedAt: status.SubmittedAt, DiedAt: status.FinishedAt, RetriedAt: status.RetriedAt,
		}
		if letter.Attempts, err = parseHistory(id, fields[fieldHistory]); err != nil {
			return nil, err
		}
		if last := len(letter.Attempts) - 1; last >= 0 {
			letter.Error = letter.Attempts[last].Error
		}
		letters = append(letters, letter)
	}
	return letters, nil
}

// openHead opens the beginning of a stored body. One that is sealed can only be opened whole, and is empty if it is longer.
func (s *store) openHead(id, head string) string {
	if !seal.Sealed([]byte(head)) {
		return head
	}
	packed, err := s.seals.Open(s.keys.body(id), []byte(head))
	if err != nil {
		return ""
	}
	return string(packed)
}

// bodyLanguage reads the program's language from the beginning of a stored body, where it comes before all that can be large.
func bodyLanguage(head string) string {
	if head == "" {
		return ""
	}
	var plain io.Reader = strings.NewReader(head[1:])
	if head[0] == formatZstd {
		unpacking, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(headWindow))
		if err != nil {
			return ""
		}
		defer unpacking.Close()
		plain = unpacking
	}
	fields := json.NewDecoder(io.LimitReader(plain, headPlain))
	for inProgram := false; ; {
		token, err := fields.Token()
		if err != nil {
			return ""
		}
		switch token {
		case json.Delim('{'):
			continue
		case "program":
			inProgram = true
			continue
		}
		var value json.RawMessage
		if err := fields.Decode(&value); err != nil {
			return ""
		}
		if inProgram && token == "language" {
			var language string
			_ = json.Unmarshal(value, &language) // what is no text has no language
			return language
		}
	}
}

// parseTimes reads the times that a script joined with commas.
func parseTimes(text string) (times []time.Time) {
	for field := range strings.SplitSeq(text, ",") {
		if t := parseTime(field); !t.IsZero() {
			times = append(times, t)
		}
	}
	return times
}

// ErrNotDead means that a job was not given up.
var ErrNotDead = errors.New("it is no dead letter")

func notDead(id string, state State, outcome sandbox.Outcome) error {
	if outcome != "" {
		return fmt.Errorf("job %s ended with %s: %w", id, outcome, ErrNotDead)
	}
	return fmt.Errorf("job %s is %s: %w", id, state, ErrNotDead)
}
