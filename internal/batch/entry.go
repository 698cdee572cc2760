package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Entry is one submission of a batch. Its place in the batch, from 0, is its index; a batch
// that is run again must have the same entries in the same places, and may have more behind them.
type Entry struct {
	// ID is its name in the batch, and Group what it is told apart by in tables beside that.
	ID, Group string
	// Expected are the verdicts that it promises; none is no promise.
	Expected []grade.Verdict
	// Previous, if not nil, is an earlier result, beside which the new one is shown.
	Previous *report.Previous
	// Result, if not nil, is what became of the entry already, such as by an earlier grading: it is handed out
	// without any job. The fields that an Entry has itself come from there.
	Result *report.Item
	// Job holds Program and Grade. Without Grade the verdict is that of the run alone. The rest,
	// Program.Reuse too, is [Run]'s.
	Job jobs.Job
}

// Key is a hash of the submission, of all that it is judged by, and of its id.
func (e Entry) Key() string {
	key, _, _ := e.keys()
	return key
}

// Size is about the size of the job in bytes, in JSON.
func (e Entry) Size() int {
	_, _, size := e.keys()
	return size
}

// keys returns the entry's key, that of its program alone, and the size of the job in JSON.
func (e Entry) keys() (key, program string, size int) {
	program, size = programKey(e.Job.Program)
	key, rest := hashJSON(struct {
		ID, Program string
		Grade       *grade.Task
		Result      *report.Item `json:",omitempty"`
	}{e.ID, program, e.Job.Grade, e.Result})
	return key, program, size + rest
}

// settled is the item of an entry that needs no job; known holds what the entry says.
func (e Entry) settled(known report.Item) report.Item {
	item := *e.Result
	item.Index, item.ID, item.Group, item.Key = known.Index, known.ID, known.Group, known.Key
	item.Program, item.Language = known.Program, known.Language
	item.Expected, item.Previous = known.Expected, known.Previous
	if len(item.Tests) > 0 {
		item = measured(item)
	}
	return judged(item, item.Verdict, item.Message)
}

// ProgramKey is a hash of a submission with its limits alone.
func ProgramKey(program sandbox.Program) string {
	key, _ := programKey(program)
	return key
}

func programKey(program sandbox.Program) (key string, size int) {
	program.Reuse = ""
	return hashJSON(program)
}

func hashJSON(value any) (hash string, size int) {
	content, err := json.Marshal(value)
	if err != nil {
		// A number that JSON has no form for: such a job cannot be submitted either, and is refused there.
		content = fmt.Append(nil, value)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16]), len(content)
}
