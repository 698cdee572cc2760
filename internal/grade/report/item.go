package report

import (
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Item is the result of one item of a batch, and a line of a results file.
type Item struct {
	// Index is the item's place in the batch, from 0, and ID its name there.
	Index int    `json:"index"`
	ID    string `json:"id"`
	// Group is what items are told apart by in tables beside their id: a team, a model, a problem.
	Group string `json:"group,omitempty"`
	// Key is a hash of the submission and all that it is judged by. The same key is the same job.
	Key string `json:"key"`
	// Program is a hash of the submission with its limits alone.
	Program  string `json:"program"`
	Language string `json:"language"`
	JobID    string `json:"job_id,omitempty"`

	Verdict grade.Verdict `json:"verdict"`
	Score   *float64      `json:"score,omitempty"`
	// Message is one line that says why, for whoever owns the tests.
	Message string `json:"message,omitempty"`
	// Expected are the verdicts that the item promised, if it did; Unexpected tells that it has none of them.
	Expected   []grade.Verdict `json:"expected,omitempty"`
	Unexpected bool            `json:"unexpected,omitempty"`
	// Previous is the result of an earlier grading, beside which this one is shown.
	Previous *Previous `json:"previous,omitempty"`

	// CPUTime, WallTime and PeakMemory are the most of any test.
	CPUTime    sandbox.Seconds `json:"cpu_seconds"`
	WallTime   sandbox.Seconds `json:"wall_seconds"`
	PeakMemory int64           `json:"peak_memory_bytes"`
	// Slowest is the name of the test with that CPUTime.
	Slowest string             `json:"slowest,omitempty"`
	Compile *Compile           `json:"compile,omitempty"`
	Tests   []grade.TestReport `json:"tests,omitempty"`
	Groups  *grade.Graded      `json:"groups,omitempty"`

	// Attempts is how often the job was tried, more than 1 after a failure of our own.
	Attempts   int             `json:"attempts,omitempty"`
	QueueTime  sandbox.Seconds `json:"queue_seconds"`
	FinishedAt time.Time       `json:"finished_at"`
}

// Previous is an earlier result of the same item.
type Previous struct {
	Verdict grade.Verdict `json:"verdict"`
	Score   *float64      `json:"score,omitempty"`
	// Rejudged is how many tests were judged anew.
	Rejudged int `json:"rejudged"`
}

// Compile is what the compiler said.
type Compile struct {
	ExitCode int             `json:"exit_code"`
	Duration sandbox.Seconds `json:"duration_seconds"`
	// Output is its standard error, or output when that is empty, cut to a few KiB.
	Output string `json:"output,omitempty"`
}
