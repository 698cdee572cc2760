package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

// ErrNotFound means that there is no such job, or that its retention is over.
var ErrNotFound = errors.New("no such job")

// ErrNotDone means that a job has no result yet.
var ErrNotDone = errors.New("job is not done")

const (
	// queuedRetention is how long a job that nobody runs is kept.
	queuedRetention = 30 * 24 * time.Hour
	// taskTimeout and taskRetries are so high that asynq never ends or gives up a job by
	// itself: limits are the runner's and attempts are counted in the job's state.
	taskTimeout = 7 * 24 * time.Hour
	taskRetries = 1 << 20
)

// store is the job's data in Redis, as the Client and the Worker share it.
type store struct {
	rdb       redis.UniversalClient
	tasks     *asynq.Client
	keys      keys
	retention time.Duration
	seals     *seal.Keys // nil seals nothing
	log       *slog.Logger
}

// minRetention is the shortest time that a result is kept.
const minRetention = time.Second

// newStore fills what is unset and raises a retention that is too short to be of use.
func newStore(rdb redis.UniversalClient, prefix string, retention time.Duration, seals *seal.Keys, log *slog.Logger) *store {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if retention == 0 {
		retention = 24 * time.Hour
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &store{
		rdb: rdb, tasks: asynq.NewClientFromRedisClient(admitting{rdb}), keys: keys{prefix: prefix},
		retention: max(retention, minRetention), seals: seals, log: log,
	}
}

func durationMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// run runs a script on the keys of one job. Its reply is a list of strings.
func (s *store) run(ctx context.Context, script *redis.Script, id string, args ...any) ([]string, error) {
	reply, err := script.Run(ctx, s.rdb, s.keys.job(id), args...).StringSlice()
	if err != nil {
		return nil, err
	}
	if len(reply) == 0 {
		return nil, errors.New("script gave an empty reply")
	}
	return reply, nil
}

// enqueue puts a dispatch of a job on one of asynq's queues. One that is there already is success.
func (s *store) enqueue(ctx context.Context, tasks *asynq.Client, asynqQueue string, r ref, more ...asynq.Option) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode task %s: %w", r, err)
	}
	options := []asynq.Option{asynq.TaskID(r.String()), asynq.Queue(asynqQueue), asynq.Timeout(taskTimeout), asynq.MaxRetry(taskRetries)}
	_, err = tasks.EnqueueContext(ctx, asynq.NewTask(taskType, payload), append(options, more...)...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue task %s: %w", r, err)
	}
	return nil
}

// wake tells idle workers that a queue has something. A lost message costs a second.
func (s *store) wake(ctx context.Context, queue Queue) {
	if err := s.rdb.Publish(ctx, s.keys.wakeChannel(queue), "").Err(); err != nil {
		s.log.DebugContext(ctx, "wake message not sent", "queue", queue, "error", err)
	}
}

// dispatch enqueues a job again, as the next one of its tenant, and wakes a worker for it.
func (s *store) dispatch(ctx context.Context, queue Queue, r ref) error {
	a, err := s.accepted(ctx, queue, r.ID)
	if err != nil {
		return err
	}
	if err := s.admit(ctx, s.tasks, r, a); err != nil {
		return err
	}
	s.wake(ctx, queue)
	return nil
}

// checkID refuses what cannot be a job's id before it becomes part of a key.
func checkID(id string) error {
	if !validName(id, maxIDBytes) {
		return fmt.Errorf("job %.80q: %w", id, ErrNotFound)
	}
	return nil
}

// status reads where a job is.
func (s *store) status(ctx context.Context, id string) (Status, error) {
	if err := checkID(id); err != nil {
		return Status{}, err
	}
	fields, err := s.rdb.HGetAll(ctx, s.keys.state(id)).Result()
	if err != nil {
		return Status{}, fmt.Errorf("read status of job %s: %w", id, err)
	}
	if len(fields) == 0 {
		return Status{}, fmt.Errorf("job %s: %w", id, ErrNotFound)
	}
	return parseStatus(id, fields), nil
}

// record reads the result of a job. The status is returned beside ErrNotDone too.
func (s *store) record(ctx context.Context, id string) (Record, Status, error) {
	if err := checkID(id); err != nil {
		return Record{}, Status{}, err
	}
	var state *redis.MapStringStringCmd
	var result *redis.StringCmd
	// At one moment, since the result of a dead letter goes when it is run again.
	_, err := s.rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		state, result = pipe.HGetAll(ctx, s.keys.state(id)), pipe.Get(ctx, s.keys.result(id))
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return Record{}, Status{}, fmt.Errorf("read result of job %s: %w", id, err)
	}
	fields := state.Val()
	status := parseStatus(id, fields)
	if len(fields) == 0 || (status.State == Done && result.Err() != nil) {
		return Record{}, Status{}, fmt.Errorf("job %s: %w", id, ErrNotFound)
	}
	if status.State != Done {
		return Record{}, status, fmt.Errorf("job %s is %s: %w", id, status.State, ErrNotDone)
	}
	record := Record{JobID: id, Tenant: status.Tenant, Queue: status.Queue, SubmittedAt: status.SubmittedAt, FinishedAt: status.FinishedAt, RetriedAt: status.RetriedAt}
	end, err := s.openEnding(id, result.Val())
	if err != nil {
		return Record{}, status, err
	}
	record.Result, record.Grade, record.Session = end.Result, end.Grade, end.Session
	if fields[fieldGraded] != "" && record.Grade == nil {
		record.Grade = unjudged(record.Result)
	}
	record.Attempts, err = parseHistory(id, fields[fieldHistory])
	return record, status, err
}

// errUnreadable means that a stored result is broken, which no waiting mends.
var errUnreadable = errors.New("decode result")

// ourResult is a result that no program gave.
func ourResult(outcome sandbox.Outcome, message string) sandbox.Result {
	return sandbox.Result{Outcome: outcome, ExitCode: -1, Message: message}
}

// ourEnding encodes a result of ours as it is stored for a job.
func (s *store) ourEnding(id string, outcome sandbox.Outcome, message string) []byte {
	_, packed := ending{Result: ourResult(outcome, message)}.storable()
	return s.sealEnding(id, packed)
}

// canceledEnding is what a job that was canceled while it waited ends with.
func (s *store) canceledEnding(id string) []byte {
	return s.ourEnding(id, sandbox.OutcomeCanceled, "the job was canceled before it started")
}
