package agent

import "time"

// EventKind tells what an Event is about.
type EventKind string

// The events, in the order in which a turn has them.
const (
	// EventTurn begins a turn of the model.
	EventTurn EventKind = "turn"
	// EventText is a piece of the model's text.
	EventText EventKind = "text"
	// EventRetry tells that the turn failed and is asked for again after Wait; its text so far is void.
	EventRetry EventKind = "retry"
	// EventTurnDone ends a turn of the model, which is in the transcript now.
	EventTurnDone EventKind = "turn_done"
	// EventCall begins a call, EventProgress is something that it tells, and EventResult ends it.
	EventCall     EventKind = "call"
	EventProgress EventKind = "progress"
	EventResult   EventKind = "result"
	// EventResultsDone tells that the results of all calls of a turn are in the transcript now.
	EventResultsDone EventKind = "results_done"
	// EventEnd is the last event of a run.
	EventEnd EventKind = "end"
)

// Event is something that happens in a run. Fields that do not concern its kind are zero.
type Event struct {
	Kind EventKind `json:"event"`
	Time time.Time `json:"time"`
	// Turn counts the turns of the model in this run, from 1.
	Turn int `json:"turn,omitempty"`
	// Text is a piece of the model's text, or why a turn is asked for again.
	Text string `json:"text,omitempty"`
	// Wait is how long the loop waits before it asks again.
	Wait time.Duration `json:"wait_ns,omitempty"`
	// Call is the call that the event is about, Progress and Result what is known of it.
	Call     *ToolCall   `json:"call,omitempty"`
	Progress *Progress   `json:"progress,omitempty"`
	Result   *ToolResult `json:"result,omitempty"`
	// Usage is that of the turn, or of the whole run at its end.
	Usage *Usage `json:"usage,omitempty"`
	// Stop and Problem are those of the transcript at its end.
	Stop    Stop   `json:"stop,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Transcript is the run's, with turn_done, results_done and end. It may be read until the observer returns.
	Transcript *Transcript `json:"-"`
}
