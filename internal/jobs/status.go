package jobs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// State is where a job is on its way.
type State string

// The states. A job that waits for another attempt is queued again.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
)

// Status is what is known of a job at one moment.
type Status struct {
	ID     string `json:"id"`
	State  State  `json:"state"`
	Queue  Queue  `json:"queue"`
	Tenant string `json:"tenant,omitempty"`
	// Outcome is set once the job is done.
	Outcome sandbox.Outcome `json:"outcome,omitempty"`
	// Attempt is the number of the latest attempt; 0 before the first.
	Attempt int `json:"attempt"`
	// Worker runs the job, or ran it last.
	Worker string `json:"worker,omitempty"`
	// StartedAt is when the latest attempt started, by the worker's clock.
	SubmittedAt time.Time `json:"submitted_at,omitzero"`
	StartedAt   time.Time `json:"started_at,omitzero"`
	FinishedAt  time.Time `json:"finished_at,omitzero"`
	// CancelRequested tells that somebody canceled the job, whatever became of it.
	CancelRequested bool `json:"cancel_requested,omitempty"`
	// RetriedAt is when somebody had it run again after it had been given up.
	RetriedAt []time.Time `json:"retried_at,omitempty"`
}

// Attempt is one try at running a job.
type Attempt struct {
	Number  int       `json:"number"`
	Worker  string    `json:"worker"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Error is what failed of our own machinery; empty for the attempt that gave the result.
	Error string `json:"error,omitempty"`
}

// Record is what became of a job.
type Record struct {
	JobID       string         `json:"job_id"`
	Tenant      string         `json:"tenant,omitempty"`
	Queue       Queue          `json:"queue"`
	SubmittedAt time.Time      `json:"submitted_at"`
	FinishedAt  time.Time      `json:"finished_at"`
	Result      sandbox.Result `json:"result"`
	// Grade is the report on a job that was to be judged, with the verdict IE when our machinery failed
	// or the job was rejected. It is nil when that was canceled.
	Grade *grade.Report `json:"grade,omitempty"`
	// Session is what a job of a session did to it. It is nil when no program ran.
	Session *workspace.Report `json:"session,omitempty"`
	// Attempts are all tries in order; a job that was canceled while it waited has none.
	Attempts []Attempt `json:"attempts,omitempty"`
	// RetriedAt is when somebody had the job run again after it had been given up; attempts before that are of its earlier life.
	RetriedAt []time.Time `json:"retried_at,omitempty"`
}

// LostBlob tells that the job ended without a verdict because test data was not in Redis any more. Once that is put there
// again, the same job under another name can be judged.
func (r Record) LostBlob() bool {
	return r.Result.Outcome == sandbox.OutcomeInfraError && strings.Contains(r.Result.Message, ErrNoBlob.Error())
}

// The texts of Attempt.Error that are not an error's.
const (
	workerLost     = "worker lost"
	workerShutdown = "worker shut down"
)

// The fields of the hash that holds a job's state. Times are Unix nanoseconds.
const (
	fieldState     = "state"
	fieldQueue     = "queue"
	fieldTenant    = "tenant"
	fieldOutcome   = "outcome"
	fieldAttempt   = "attempt"
	fieldOwner     = "owner"
	fieldToken     = "token"
	fieldDispatch  = "dispatch"
	fieldSubmitted = "submitted"
	fieldStarted   = "started"
	fieldFinished  = "finished"
	fieldCancel    = "cancel"
	fieldHistory   = "history"
	fieldGraded    = "graded"  // not empty for a job that is to be judged
	fieldRetried   = "retried" // times, joined with commas
)

func parseStatus(id string, fields map[string]string) Status {
	attempt, _ := strconv.Atoi(fields[fieldAttempt])
	return Status{
		ID: id, State: State(fields[fieldState]), Queue: Queue(fields[fieldQueue]), Tenant: fields[fieldTenant],
		Outcome: sandbox.Outcome(fields[fieldOutcome]), Attempt: attempt, Worker: fields[fieldOwner],
		SubmittedAt: parseTime(fields[fieldSubmitted]), StartedAt: parseTime(fields[fieldStarted]),
		FinishedAt: parseTime(fields[fieldFinished]), CancelRequested: fields[fieldCancel] != "", RetriedAt: parseTimes(fields[fieldRetried]),
	}
}

func formatTime(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func parseTime(text string) time.Time {
	nanos, err := strconv.ParseInt(text, 10, 64)
	if err != nil || nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// storedAttempt is a line of the history field; scripts write it too.
type storedAttempt struct {
	Number  int    `json:"number"`
	Worker  string `json:"worker"`
	Started int64  `json:"started"`
	Ended   int64  `json:"ended"`
	Error   string `json:"error,omitempty"`
}

func (a Attempt) encode() string {
	line, _ := json.Marshal(storedAttempt{ // a struct of numbers and strings always encodes
		Number: a.Number, Worker: a.Worker, Started: a.Started.UnixNano(), Ended: a.Ended.UnixNano(), Error: a.Error,
	})
	return string(line) + "\n"
}

func parseHistory(id, text string) (attempts []Attempt, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		var stored storedAttempt
		if err := json.Unmarshal(lines.Bytes(), &stored); err != nil {
			return nil, fmt.Errorf("read history of job %s: %w", id, err)
		}
		attempts = append(attempts, Attempt{
			Number: stored.Number, Worker: stored.Worker, Error: stored.Error,
			Started: time.Unix(0, stored.Started).UTC(), Ended: time.Unix(0, stored.Ended).UTC(),
		})
	}
	return attempts, lines.Err()
}
