package jobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// DefaultBodyLimit is the size in bytes up to which a job in JSON is accepted unless
// the operator says otherwise.
const DefaultBodyLimit = 96 * int(sandbox.MiB)

// MaxBodyLimit is the most in bytes that the operator can say, and the largest job that any worker reads.
const MaxBodyLimit = 256 * int(sandbox.MiB)

const (
	maxIDBytes     = 64
	maxTenantBytes = 128
	maxKeyBytes    = 256
	maxReuseBytes  = 128
)

// Job is one program to be run once, or one submission to be judged.
type Job struct {
	// ID is chosen by Submit when empty. A given one holds up to 64 letters, digits, '-', '_' and '.'.
	ID string `json:"id,omitempty"`
	// Tenant is on whose behalf the job runs. Idempotency keys of two tenants never meet.
	Tenant string `json:"tenant,omitempty"`
	// Queue is Default when empty.
	Queue Queue `json:"queue,omitempty"`
	// IdempotencyKey makes a repeated submission of the same job return the first one.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Program is what runs.
	Program sandbox.Program `json:"program"`
	// Grade, if not nil, has the program judged as a submission: compiled once, run on tests, checked.
	Grade *grade.Task `json:"grade,omitempty"`
	// Session, if not nil, has the program run in a session, whose files persist.
	Session *Session `json:"session,omitempty"`
	// Follow keeps the output of the running program for Client.Follow.
	Follow bool `json:"follow,omitempty"`
	// Traceparent is the trace that the job is part of, in the form of W3C Trace Context. Submit sets it where it traces;
	// it is no part of what a repeated submission must share.
	Traceparent string `json:"traceparent,omitempty"`
	// SubmittedAt is set by Submit when zero.
	SubmittedAt time.Time `json:"submitted_at,omitzero"`
}

// DecodeJob reads a job from JSON of at most DefaultBodyLimit bytes and validates it.
// Unknown fields and anything after the job are refused. An error names the field.
func DecodeJob(data []byte) (Job, error) {
	if len(data) > DefaultBodyLimit {
		return Job{}, fmt.Errorf("job: is %d bytes: want at most %d", len(data), DefaultBodyLimit)
	}
	if err := jobContent.checkBulk(data); err != nil {
		return Job{}, err
	}
	job, err := decodeStrict(data)
	if err != nil {
		return Job{}, err
	}
	return job, job.Validate()
}

func decodeStrict(data []byte) (Job, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var job *Job
	if err := decoder.Decode(&job); err != nil {
		return Job{}, explainJSON(err)
	}
	if job == nil {
		return Job{}, errors.New("job: is null: want an object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Job{}, fmt.Errorf("job: something follows the object at byte %d: want nothing", decoder.InputOffset())
	}
	return *job, nil
}

// explainJSON says what is wrong in terms of the job instead of Go's types.
func explainJSON(err error) error {
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed) && typed.Type == reflect.TypeFor[Job]():
		return fmt.Errorf("job: is a JSON %s: want an object", typed.Value)
	case errors.As(err, &typed) && typed.Field != "": // without it, a type that reads itself has said what it wants
		return fmt.Errorf("%s: is a JSON %s: want %s", typed.Field, typed.Value, wanted(typed))
	case errors.Is(err, io.EOF):
		return errors.New("job: is empty: want a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("job: ends in the middle of the JSON object")
	}
	return fmt.Errorf("job: %w", err)
}

func wanted(err *json.UnmarshalTypeError) string {
	switch kind := err.Type.Kind().String(); kind {
	case "slice", "array":
		return "an array"
	case "map", "struct":
		return "an object"
	case "bool":
		return "true or false"
	case "string":
		return "a string"
	default:
		return "a number that fits " + kind
	}
}

// Validate checks what does not depend on the installation: names and sizes of the job and
// its program's paths. The error joins one sentence for each field that is wrong.
func (j Job) Validate() error {
	var errs []error
	if j.ID != "" && !validName(j.ID, maxIDBytes) {
		errs = append(errs, fmt.Errorf("id: %.80q: want up to %d letters, digits, '-', '_' and '.'", j.ID, maxIDBytes))
	}
	if j.ID != "" && j.IdempotencyKey != "" && j.ID != KeyedID(j.Tenant, j.IdempotencyKey) {
		errs = append(errs, fmt.Errorf("id: %.80q is not the id of the idempotency key: want none or %q", j.ID, KeyedID(j.Tenant, j.IdempotencyKey)))
	}
	if _, err := ParseQueue(string(j.Queue)); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, checkLabel("tenant", j.Tenant, maxTenantBytes), checkLabel("idempotency_key", j.IdempotencyKey, maxKeyBytes))
	if j.Traceparent != "" {
		if err := spans.CheckTraceparent(j.Traceparent); err != nil {
			errs = append(errs, fmt.Errorf("traceparent: %w", err))
		}
	}
	if err := j.Program.Validate(sandbox.Limits{FilesIn: math.MaxInt, InputBytes: math.MaxInt64}); err != nil {
		errs = append(errs, fmt.Errorf("program: %w", err))
	}
	if reuse := j.Program.Reuse; reuse != "" && !validName(reuse, maxReuseBytes) {
		errs = append(errs, fmt.Errorf("program.reuse: %.160q: want up to %d letters, digits, '-', '_' and '.'", reuse, maxReuseBytes))
	}
	if j.Grade != nil {
		if len(j.Program.Stdin) > 0 {
			errs = append(errs, fmt.Errorf("program.stdin: is %d bytes: want none beside grade, whose tests have inputs of their own", len(j.Program.Stdin)))
		}
		if err := j.Grade.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("grade: %w", err))
		}
	}
	if j.Session != nil {
		errs = append(errs, j.checkSession())
	}
	return errors.Join(errs...)
}

// checkLabel refuses what would not be seen in a log line or a table.
func checkLabel(field, value string, limit int) error {
	if len(value) > limit {
		return fmt.Errorf("%s: is %d bytes: want at most %d", field, len(value), limit)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("%s: %q is not valid UTF-8", field, value)
	}
	for _, r := range value {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s: %q holds the unprintable character %U", field, value, r)
		}
	}
	return nil
}

// prepared returns the job as it is stored: with an id, a queue and a time.
func (j Job) prepared(now time.Time) Job {
	switch {
	case j.IdempotencyKey != "":
		j.ID = KeyedID(j.Tenant, j.IdempotencyKey)
	case j.ID == "":
		j.ID = newID()
	}
	if j.Queue == "" {
		j.Queue = Default
	}
	if j.SubmittedAt.IsZero() {
		j.SubmittedAt = now
	}
	j.SubmittedAt = j.SubmittedAt.UTC()
	return j
}

// encode returns in JSON all of the job that a repeated submission must share, and a hash of
// it. The rest, id, trace and time of submission, is part of the job's state.
func (j Job) encode() (body []byte, hash string, err error) {
	id := j.ID
	j.ID, j.Traceparent, j.SubmittedAt = "", "", time.Time{}
	if body, err = json.Marshal(j); err != nil {
		return nil, "", fmt.Errorf("encode job %s: %w", id, err)
	}
	sum := sha256.Sum256(body)
	return body, hex.EncodeToString(sum[:16]), nil
}
