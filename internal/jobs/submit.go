package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrConflict means that the idempotency key, or the id, belongs to another job.
var ErrConflict = errors.New("it was used for another job with different content")

// ErrTooLarge means that a job is larger than ClientOptions.BodyLimit.
var ErrTooLarge = errors.New("it is too large")

// Submission is what became of one submitted job.
type Submission struct {
	// ID names the job from now on.
	ID string `json:"id"`
	// Existing tells that the job was there already, by its idempotency key or id.
	Existing bool `json:"existing,omitempty"`
	// Err is why the job was not accepted. Trying again is safe.
	Err error `json:"-"`
}

// createScript stores a new job. ARGV: hash, token, body, tenant, queue, time of
// submission, retention, 1 for a job that is to be judged or nothing, its trace or nothing, its signature or nothing, and all hashes that the same job
// could have got. The reply is created, existing or conflict, then state, dispatch and queue.
var createScript = newScript(`
local hash, token, state, dispatch, queue = get('hash', 'submission', 'state', 'dispatch', 'queue')
if hash then
	if not string.find(ARGV[11], hash, 1, true) then
		return {'conflict'}
	end
	return {token == ARGV[2] and 'created' or 'existing', state, dispatch, queue}
end
redis.call('HSET', KEYS[1], 'state', 'queued', 'dispatch', '1', 'attempt', '0', 'failures', '0',
	'hash', ARGV[1], 'submission', ARGV[2], 'tenant', ARGV[4], 'queue', ARGV[5], 'submitted', ARGV[6])
if ARGV[8] ~= '' then
	redis.call('HSET', KEYS[1], 'graded', ARGV[8])
end
if ARGV[9] ~= '' then
	redis.call('HSET', KEYS[1], 'trace', ARGV[9])
end
if ARGV[10] ~= '' then
	redis.call('HSET', KEYS[1], 'signature', ARGV[10])
end
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[7])
return {'created', 'queued', '1', ARGV[5]}
`)

// Submit hands in one job. A job with an idempotency key that was handed in before is not
// run again: the Submission says Existing, or the error is ErrConflict if it is another job.
// A Submit that failed can be repeated: with a key or an id of its own the job runs once.
func (c *Client) Submit(ctx context.Context, job Job) (Submission, error) {
	submissions, err := c.SubmitMany(ctx, []Job{job})
	if err != nil {
		return Submission{}, submissions[0].Err
	}
	return submissions[0], nil
}

// SubmitMany hands in jobs, many with each round trip. It returns one Submission for each
// job, in order; the error is not nil if any of them has one.
func (c *Client) SubmitMany(ctx context.Context, jobs []Job) ([]Submission, error) {
	submissions := make([]Submission, len(jobs))
	pending := make([]*pendingJob, 0, len(jobs))
	now := time.Now()
	var traced submitSpans
	defer traced.end(submissions)
	for i, job := range jobs {
		p, err := c.prepare(traced.begin(ctx, c.tracer, job), now)
		submissions[i] = Submission{ID: p.ref.ID, Err: err}
		if err == nil {
			p.submission = &submissions[i]
			pending = append(pending, p)
		}
	}
	tasks := c.store.tasks
	if len(pending) > 1 {
		batch := newCoalescing(ctx, c.store.rdb)
		defer batch.close()
		tasks = asynq.NewClientFromRedisClient(admitting{batch})
	}
	for start := 0; start < len(pending); start += submitChunk {
		c.submitChunk(ctx, tasks, pending[start:min(start+submitChunk, len(pending))])
	}
	failures, first := 0, error(nil)
	for _, submission := range submissions {
		if submission.Err != nil {
			failures++
			if first == nil {
				first = submission.Err
			}
		}
	}
	if first != nil {
		return submissions, fmt.Errorf("submit: %d of %d jobs were not accepted: %w", failures, len(jobs), first)
	}
	return submissions, nil
}

// submitChunk is the number of jobs whose bodies travel in one round trip.
const submitChunk = 500

// submitBytes is the size in bytes of bodies after which a round trip is made anyway.
const submitBytes = 8 << 20

// pendingJob is a job on its way into Redis.
type pendingJob struct {
	ref        ref
	args       []any
	token      string
	tenant     string
	size       int
	queue      Queue
	submission *Submission
	created    *redis.Cmd
	enqueue    bool
}

func (c *Client) prepare(job Job, now time.Time) (*pendingJob, error) {
	id := job.ID
	if err := job.Validate(); err != nil {
		return &pendingJob{ref: ref{ID: id}}, fmt.Errorf("submit job %.80s: %w", id, err)
	}
	job = job.prepared(now)
	body, hash, err := job.encode()
	if err == nil && len(body) > c.bodyLimit {
		return &pendingJob{ref: ref{ID: job.ID}}, fmt.Errorf("submit job %s: %w: %d bytes in JSON, want at most %d", job.ID, ErrTooLarge, len(body), c.bodyLimit)
	}
	stored, graded := c.store.seals.Seal(c.store.keys.body(job.ID), pack(body)), ""
	if job.Grade != nil {
		graded = "1"
	}
	hashes := c.store.hashes(hash)
	token, submitted := newToken(), formatTime(job.SubmittedAt)
	return &pendingJob{
		ref: ref{ID: job.ID, Dispatch: 1}, token: token, tenant: job.Tenant, queue: job.Queue, size: len(stored),
		args: []any{
			hashes[0], token, stored, job.Tenant, string(job.Queue), submitted, durationMillis(queuedRetention), graded, job.Traceparent,
			c.signs.Sign(signedJob, stored, c.store.signedFields(job.ID, job.Tenant, job.Queue, submitted)...), strings.Join(hashes, " "),
		},
	}, err
}

// submitChunk stores the jobs, enqueues them and wakes workers.
func (c *Client) submitChunk(ctx context.Context, tasks *asynq.Client, chunk []*pendingJob) {
	for start := 0; start < len(chunk); {
		end, size := start, 0
		for end < len(chunk) && (end == start || size+chunk[end].size <= submitBytes) {
			size += chunk[end].size
			end++
		}
		c.create(ctx, chunk[start:end])
		start = end
	}
	woken := map[Queue]bool{}
	c.admitAll(ctx, tasks, chunk)
	for _, p := range chunk {
		if p.enqueue && p.submission.Err == nil {
			woken[p.queue] = true
		}
	}
	for queue := range woken {
		c.store.wake(ctx, queue)
	}
}

// create stores the bodies of jobs in one round trip.
func (c *Client) create(ctx context.Context, jobs []*pendingJob) {
	send := func(jobs []*pendingJob, evaluate func(redis.Pipeliner, *pendingJob) *redis.Cmd) {
		_, _ = c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error { // each command has its own error
			for _, p := range jobs {
				p.created = evaluate(pipe, p)
			}
			return nil
		})
	}
	send(jobs, func(pipe redis.Pipeliner, p *pendingJob) *redis.Cmd {
		return createScript.EvalSha(ctx, pipe, c.store.keys.job(p.ref.ID), p.args...)
	})
	var unknown []*pendingJob
	for _, p := range jobs {
		if redis.HasErrorPrefix(p.created.Err(), "NOSCRIPT") {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) > 0 {
		send(unknown, func(pipe redis.Pipeliner, p *pendingJob) *redis.Cmd {
			return createScript.Eval(ctx, pipe, c.store.keys.job(p.ref.ID), p.args...)
		})
	}
	for _, p := range jobs {
		p.readReply()
	}
}

// readReply decides from the reply of createScript what is left to do. A job that is still
// queued is enqueued again, which heals a submission that was cut short.
func (p *pendingJob) readReply() {
	reply, err := p.created.StringSlice()
	switch {
	case err != nil:
		p.submission.Err = fmt.Errorf("submit job %s: %w", p.ref.ID, err)
	case reply[0] == "conflict":
		p.submission.Err = fmt.Errorf("submit job %s: %w", p.ref.ID, ErrConflict)
	default:
		p.submission.Existing = reply[0] == "existing"
		p.enqueue = State(reply[1]) == Queued
		p.ref.Dispatch, _ = strconv.Atoi(reply[2])
		p.queue = Queue(reply[3])
	}
	p.args = nil // the body may be large
}

// admitWorkers is how many tasks are handed to asynq at the same time.
const admitWorkers = 128

// admitAll lets the jobs wait in their queues and deletes what is left of those that are refused.
func (c *Client) admitAll(ctx context.Context, tasks *asynq.Client, jobs []*pendingJob) {
	deadline := time.Now().Add(discardTime)
	next := make(chan *pendingJob)
	var workers sync.WaitGroup
	for range min(admitWorkers, len(jobs)) {
		workers.Go(func() {
			for p := range next {
				if err := c.admit(ctx, tasks, p); err != nil {
					p.submission.Err = fmt.Errorf("submit job %s: %w", p.ref.ID, err)
				}
			}
		})
	}
	for _, p := range jobs {
		if p.enqueue {
			next <- p
		}
	}
	close(next)
	workers.Wait()
	var refused []*pendingJob
	for _, p := range jobs {
		var refusal *QuotaError
		if !p.submission.Existing && errors.As(p.submission.Err, &refusal) {
			refused = append(refused, p)
		}
	}
	c.discard(ctx, refused, deadline)
}

// admit lets a job wait in its queue.
func (c *Client) admit(ctx context.Context, tasks *asynq.Client, p *pendingJob) error {
	a := &admission{queue: p.queue, tenant: p.tenant, size: p.size, mode: admitNew}
	switch {
	case p.ref.Dispatch > 1: // somebody had taken it
		a.mode = admitForced
	case p.submission.Existing:
		a.mode = admitAgain
	}
	err := c.store.admit(ctx, tasks, p.ref, a)
	if err != nil || a.mode != admitAgain {
		return err
	}
	switch exists, err := c.store.rdb.Exists(ctx, c.store.keys.state(p.ref.ID)).Result(); {
	case err != nil:
		return fmt.Errorf("make sure that it is there: %w", err)
	case exists == 0:
		return errors.New("the submission that made it was refused meanwhile: try again")
	}
	return nil
}
