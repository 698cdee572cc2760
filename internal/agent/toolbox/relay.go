package toolbox

import (
	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// runsAgain is the state of a job that begins anew after a failure of ours.
const runsAgain = "running again"

// relay passes on what a job tells, from one goroutine. In the end each stream has been passed on as far as its beginning
// is kept, whether it came while the program ran or with the result.
type relay struct {
	id       string
	progress func(agent.Progress) // nil when nobody listens
	sent     map[stream]int
}

// stream is one of those that a job writes.
type stream struct {
	step string
	name sandbox.StreamName
}

func newRelay(id string, progress func(agent.Progress)) *relay {
	return &relay{id: id, progress: progress, sent: map[stream]int{}}
}

func (r *relay) state(state string) {
	if r.progress != nil {
		r.progress(agent.Progress{State: state, JobID: r.id})
	}
}

// piece passes on output. After a failure of ours the job runs again, and so does its output.
func (r *relay) piece(piece sandbox.Output) {
	if piece.Step == jobs.StepAttempt {
		clear(r.sent)
		r.state(runsAgain)
		return
	}
	if r.progress != nil {
		r.sent[stream{piece.Step, piece.Stream}] += len(piece.Data)
		r.progress(agent.Progress{JobID: r.id, Output: &piece})
	}
}

// finish passes on what has not come yet of the streams of a result.
func (r *relay) finish(result sandbox.Result) {
	if compile := result.Compile; compile != nil {
		r.rest(stream{"compile", sandbox.Stdout}, compile.Stdout)
		r.rest(stream{"compile", sandbox.Stderr}, compile.Stderr)
	}
	r.rest(stream{"run", sandbox.Stdout}, result.Stdout)
	r.rest(stream{"run", sandbox.Stderr}, result.Stderr)
}

func (r *relay) rest(from stream, kept sandbox.Stream) {
	head := kept.Data
	if kept.Truncated {
		head = head[:kept.CutAt]
	}
	if sent := r.sent[from]; sent < len(head) {
		r.piece(sandbox.Output{Step: from.step, Stream: from.name, Data: head[sent:]})
	}
}
