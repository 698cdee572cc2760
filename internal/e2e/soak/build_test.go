package soak

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

// start is when every history of these tests begins.
var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// at is a time in seconds after the beginning.
func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// tale is a history that a test writes by hand.
type tale []Event

// begin is one with nothing in it yet; a job has three attempts.
func begin() *tale { return &tale{{At: start, Kind: Begun, Bound: 3, Text: "by hand"}} }

func (t *tale) add(seconds float64, e Event) *tale {
	e.At = at(seconds)
	*t = append(*t, e)
	return t
}

// wanted is what every job of these tests must give, and right what it gives.
func wanted() *Want {
	code := 0
	return &Want{Work: "ok", Outcome: "ok", ExitCode: &code, Stdout: "hi\n", Total: 3}
}

// right is a result of one attempt on w1, which began a second before it ended.
func right(finished float64) *Got {
	return &Got{
		Outcome: "ok", Stdout: "hi\n", Total: 3, Print: "p", Submitted: at(1), Finished: at(finished),
		Attempts: []jobs.Attempt{{Number: 1, Worker: "w1", Started: at(finished - 1), Ended: at(finished)}},
	}
}

// handIn is a job that is planned and accepted.
func (t *tale) handIn(id string, seconds float64) *tale {
	return t.add(seconds, Event{Kind: Planned, Job: id, Want: wanted()}).add(seconds, Event{Kind: Accepted, Job: id})
}

func (t *tale) final(id string, seconds float64, got *Got) *tale {
	return t.add(seconds, Event{Kind: Final, Job: id, Got: got})
}

// broken is a fault from one time to another.
func (t *tale) broken(from, to float64, fault Fault) *tale {
	fault.ID = len(*t)
	return t.add(from, Event{Kind: FaultBegun, Fault: &fault}).add(to, Event{Kind: FaultLifted, Fault: &fault})
}

func (t *tale) says(seconds float64, message, job, text string) *tale {
	return t.add(seconds, Event{Kind: Logged, Message: message, Job: job, Text: text})
}

// check ends the history, writes it, reads it and checks it.
func (t *tale) check(tt *testing.T) ([]Violation, Figures) {
	tt.Helper()
	t.add(1000, Event{Kind: Ended})
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	for _, e := range *t {
		require.NoError(tt, encoder.Encode(e))
	}
	events, err := Read(&file)
	require.NoError(tt, err)
	return Check(events)
}
