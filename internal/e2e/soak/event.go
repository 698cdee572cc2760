package soak

import (
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Kind is what an event is about.
type Kind string

// The kinds of events.
const (
	// Begun is the first event: Text says with which seed, Bound how many attempts a job has.
	Begun Kind = "begun"
	// Planned is a job that a producer is about to submit, with what it must give.
	Planned Kind = "planned"
	// Accepted is a submission that Redis has confirmed; Again tells that the job was there before.
	Accepted Kind = "accepted"
	// Refused is one that was not: the producer tries again.
	Refused Kind = "refused"
	// CancelAsked is a wish to cancel a job, of which nobody may hear.
	CancelAsked Kind = "cancel asked"
	// Canceled is a confirmed cancellation; Text is the state of the job after it.
	Canceled Kind = "canceled"
	// Sighted is a result as somebody read it before the end.
	Sighted Kind = "sighted"
	// Vanished is a job that was accepted and that Redis does not know any more.
	Vanished Kind = "vanished"
	// Final is the result as it was read when everything had come to rest.
	Final Kind = "final"
	// Unfinished is a job that had no result by then; Text is its state.
	Unfinished Kind = "unfinished"
	// FaultBegun and FaultLifted frame a fault.
	FaultBegun  Kind = "fault begun"
	FaultLifted Kind = "fault lifted"
	// Logged is a line of a worker's log, as it is in Text, with its message in Message.
	Logged Kind = "logged"
	// Left is something that should not be there after the end.
	Left Kind = "left"
	// Ended is the last event.
	Ended Kind = "ended"
)

// Event is one line of a history.
type Event struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	Job  string    `json:"job,omitempty"`
	// Worker is the id of a worker.
	Worker  string `json:"worker,omitempty"`
	Message string `json:"message,omitempty"`
	Text    string `json:"text,omitempty"`
	Again   bool   `json:"again,omitempty"`
	Bound   int    `json:"bound,omitempty"`
	Want    *Want  `json:"want,omitempty"`
	Got     *Got   `json:"got,omitempty"`
	Fault   *Fault `json:"fault,omitempty"`

	// Line is the number of the line, from 1, and Raw the line itself, in a history that was read.
	Line int    `json:"-"`
	Raw  string `json:"-"`
}

// Want is what a program gives, whenever and however often it is run.
type Want struct {
	// Work is the kind of program, for people.
	Work    string `json:"work"`
	Outcome string `json:"outcome"`
	// ExitCode is compared unless it is nil, and Verdict unless it is empty.
	ExitCode *int   `json:"exit_code,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	// Stdout is the whole output or its Digest. Where Partial is set the program was ended by
	// a limit and may have written only the beginning of it.
	Stdout  string `json:"stdout"`
	Partial bool   `json:"partial,omitempty"`
	// Total is the number of bytes that the program writes.
	Total int64 `json:"total"`
}

// Got is a result as it was read.
type Got struct {
	Outcome  string `json:"outcome"`
	ExitCode int    `json:"exit_code"`
	Verdict  string `json:"verdict,omitempty"`
	Stdout   string `json:"stdout"`
	Total    int64  `json:"total"`
	Message  string `json:"message,omitempty"`
	// Print is the hash of the whole record.
	Print     string         `json:"print"`
	Submitted time.Time      `json:"submitted"`
	Finished  time.Time      `json:"finished"`
	Attempts  []jobs.Attempt `json:"attempts,omitempty"`
}

// Fault is something that was broken on purpose.
type Fault struct {
	// ID joins the beginning and the end of a fault.
	ID   int    `json:"id"`
	Kind string `json:"kind"`
	// Target is what was broken: a worker's id, a container.
	Target string `json:"target,omitempty"`
	// Forgets tells that Redis loses what it was told last.
	Forgets bool `json:"forgets,omitempty"`
	// Says is what workers' logs may say of it, one of which must be there. Without any the fault is none that a
	// worker must notice.
	Says []Said `json:"says,omitempty"`
}

// Said is a message of a log in whose line About is named.
type Said struct {
	Message string `json:"message"`
	About   string `json:"about,omitempty"`
}

func (s Said) matches(e Event) bool {
	return s.Message == e.Message && strings.Contains(e.Text, s.About)
}
