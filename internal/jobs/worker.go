package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

// The causes with which a Worker cancels the context of Runner.Run, beside sandbox.ErrCanceled.
var (
	// ErrLost means that the job belongs to another attempt by now.
	ErrLost = errors.New("another attempt owns the job")
	// ErrShutdown means that the worker stops and the job will run elsewhere.
	ErrShutdown = errors.New("the worker shuts down")
)

// Runner runs programs. Both methods are called from many goroutines.
type Runner interface {
	// Run runs a program to its end. An error means that our own machinery failed and
	// that the job may run again. When ctx ends, Run removes what it made and returns soon:
	// with the outcome canceled if the cause is sandbox.ErrCanceled, with an error otherwise.
	Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error)
	// KillOlder ends what it can reach of the job's attempts before the given one.
	KillOlder(ctx context.Context, jobID string, attempt int) error
}

// WorkerOptions are what a Worker needs to know. Redis and Runner must be set.
type WorkerOptions struct {
	// ID names this worker process and no other one: NewWorkerID() when empty. The reaper
	// asks by it whether a container's owner lives.
	ID string
	// Redis stays the caller's, who closes it after Run has returned.
	Redis redis.UniversalClient
	// Prefix starts every key, DefaultPrefix when empty.
	Prefix string
	// Runner runs the programs.
	Runner Runner
	// Judge judges the jobs that have a Grade. Without one they are rejected.
	Judge Judge
	// Sessions runs the jobs that have a Session. Without it they are rejected.
	Sessions Sessions
	// Concurrency is the number of slots that all queues share, 1 when 0.
	Concurrency int
	// InteractiveSlots come on top, for interactive jobs alone.
	InteractiveSlots int
	// SessionSlots are for jobs that other workers forward to this one, which holds the live interpreter of their
	// session: 8 when 0. They come on top, since an interpreter has its memory already.
	SessionSlots int
	// Weights are the queues' shares of the shared slots; a queue without one has that of DefaultWeights.
	Weights map[Queue]int
	// Grace is how long Run lets jobs finish after its context ended.
	Grace time.Duration
	// MaxAttempts is how often our machinery may fail on a job before it is given up, 4 when 0.
	MaxAttempts int
	// Retention is how long a result is kept: 24 h when 0; less than 1 s means 1 s.
	Retention time.Duration
	// Host is the id of the Docker daemon and Reap its periodic chore, done once in ReapEvery
	// for each Host however many workers share it. A nil Reap means none.
	Host      string
	Reap      func(context.Context) error
	ReapEvery time.Duration
	// Observe is told of each job that got its result here, and ObserveRecovery of each lost worker whose jobs are back
	// on their queues and of how long that took since its heartbeat was first missed. Both are called from many goroutines
	// and must return at once; nil is nobody.
	Observe         func(Observation)
	ObserveRecovery func(took time.Duration)
	// Tracer makes the spans of attempts; nil makes none.
	Tracer trace.TracerProvider
	// Ready tells whether Runner can run a program at all, and nil means that it always can. It is asked after an attempt
	// failed by our own doing. While it returns an error the worker takes no jobs, and the failure counts against none.
	Ready func(context.Context) error
	// VerifyKeys verify the jobs that are run: one without a signature by any of them is rejected. Nil runs every job.
	VerifyKeys *seal.Keys
	// SealKeys seal and open what Redis keeps of jobs, as those of a Client do.
	SealKeys *seal.Keys
	// Log is told what happens; nil is silence.
	Log *slog.Logger
}

// Counters count what a Worker did since it was made.
type Counters struct {
	// Finished counts stored results and Failed attempts that our own machinery failed.
	Finished, Failed atomic.Int64
	// Forwarded counts jobs that were handed to the worker that holds their session, PutOff those whose session was not free.
	Forwarded, PutOff atomic.Int64
	// Dropped counts results that were not stored because another attempt owned the job.
	Dropped atomic.Int64
	// Recovered counts jobs of lost workers that were put back, Requeued those of our own at shutdown.
	Recovered, Requeued atomic.Int64
	// Lost counts dead workers whose jobs this one put back.
	Lost atomic.Int64
	// HeartbeatsLate counts heartbeats that came 1.5 s or more after the one before, HeartbeatsFailed those that
	// Redis did not take.
	HeartbeatsLate, HeartbeatsFailed atomic.Int64
}

// Worker takes jobs from the queues and runs them.
type Worker struct {
	id       string
	options  WorkerOptions
	store    *store
	log      *slog.Logger
	slots    *slots
	forwards *forwards
	counters Counters
	vitals   vitals
	gate     gate
	kills    kills

	stop    chan struct{} // closed: take no more jobs
	closing chan struct{} // closed: do not wait for Redis any more
	lookNow chan struct{} // capacity 1: a hint of a cancel may have been lost

	mu       sync.Mutex
	attempts map[string]*attempt // by token
	ending   bool                // no attempt may go on
	// unclaimed are members of the running set that nothing here runs, as of the last look.
	unclaimed map[string]bool
}

// NewWorkerID makes an id that tells the host and the process and that no other worker has.
func NewWorkerID() string {
	host, err := os.Hostname()
	if err != nil || !validName(host, 64) {
		host = "worker"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), newToken()[:8])
}

// NewWorker checks the options and makes a Worker, which does nothing before Run.
func NewWorker(options WorkerOptions) (*Worker, error) {
	options.applyDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("make worker: %w", err)
	}
	store := newStore(options.Redis, options.Prefix, options.Retention, options.SealKeys, options.Log)
	return &Worker{
		id: options.ID, options: options, store: store, log: store.log.With("worker", options.ID),
		slots:    newSlots(options.Concurrency, options.InteractiveSlots, options.Weights),
		forwards: newForwards(options.SessionSlots),
		gate:     gate{shut: make(chan struct{}, 1)},
		stop:     make(chan struct{}), closing: make(chan struct{}), lookNow: make(chan struct{}, 1),
		attempts: map[string]*attempt{}, unclaimed: map[string]bool{},
	}, nil
}

func (o *WorkerOptions) applyDefaults() {
	if o.ID == "" {
		o.ID = NewWorkerID()
	}
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	if o.SessionSlots == 0 {
		o.SessionSlots = 8
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 4
	}
	if o.ReapEvery == 0 {
		o.ReapEvery = time.Minute
	}
	weights := DefaultWeights()
	for queue, weight := range o.Weights {
		weights[queue] = weight
	}
	o.Weights = weights
}

func (o *WorkerOptions) validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Redis == nil || o.Runner == nil {
		refuse("redis and runner: want both")
	}
	if !validName(o.ID, maxWorkerID) {
		refuse("id: %.160q: want up to %d letters, digits, '-', '_' and '.'", o.ID, maxWorkerID)
	}
	if o.Concurrency < 1 || o.Concurrency > maxSlots || o.InteractiveSlots < 0 || o.InteractiveSlots > maxSlots {
		refuse("slots: %d and %d for interactive jobs: want 1 to %d and 0 to %d", o.Concurrency, o.InteractiveSlots, maxSlots, maxSlots)
	}
	if o.SessionSlots < 1 || o.SessionSlots > maxSlots {
		refuse("session slots: %d: want 1 to %d", o.SessionSlots, maxSlots)
	}
	for queue, weight := range o.Weights {
		if _, err := ParseQueue(string(queue)); err != nil || queue == "" || weight < 1 {
			refuse("weights: %q has %d: want a known queue and at least 1", queue, weight)
		}
	}
	if o.Grace < 0 || o.MaxAttempts < 1 {
		refuse("grace and attempts: %s and %d: want at least 0 and 1", o.Grace, o.MaxAttempts)
	}
	if o.Reap != nil && (!validName(o.Host, 128) || o.ReapEvery < time.Second) {
		refuse("host and reap period: %.160q and %s: want an id and at least 1s", o.Host, o.ReapEvery)
	}
	return errors.Join(errs...)
}

const maxWorkerID = 128

// maxSlots bounds the slots of a worker, and is far below what asynq is allowed to run at once.
const maxSlots = 4096

// ID is the worker's id.
func (w *Worker) ID() string { return w.id }

// Counters counts what the worker did. It may be read at any time.
func (w *Worker) Counters() *Counters { return &w.counters }
