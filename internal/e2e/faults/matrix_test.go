//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// short tells that one phase of each fault is enough, with outages as short as make sense.
var short = os.Getenv("SANDLOOP_FAULTS") == "short"

// TestFaults brings jobs into a phase, breaks something, mends it, and looks what became of the jobs: each has one
// result, which is not held against its program, and nothing is left.
func TestFaults(t *testing.T) {
	daemon := faults.StartDaemon(t)
	table := &table{}
	t.Cleanup(func() { table.publish(t) })
	for _, fault := range everyFault() {
		for _, phase := range phases {
			if short && phase != fault.typical {
				continue
			}
			t.Run(fault.name+"/"+string(phase), func(t *testing.T) {
				c := newCell(t, daemon, fault, phase)
				table.add(c.run())
			})
		}
	}
}

// cell is one fault in one phase.
type cell struct {
	t      *testing.T
	lab    *faults.Lab
	fault  fault
	phase  phase
	row    row
	victim *faults.Worker // what happens to one worker happens to this one
	other  *faults.Worker
	// victimID is the id by which the victim owns jobs.
	victimID string
	jobs     []jobs.Job
	// waiting is a client that awaits the jobs, for the faults of clients.
	waiting *faults.Process

	injected, lifted time.Time
}

func newCell(t *testing.T, daemon *faults.Daemon, fault fault, phase phase) *cell {
	c := &cell{t: t, lab: faults.NewLab(t, daemon), fault: fault, phase: phase, row: row{fault: fault.name, phase: phase}}
	env := []string{
		"SANDLOOP_WORKER_CONCURRENCY=2", "SANDLOOP_WORKER_INTERACTIVE_SLOTS=0", "SANDLOOP_WORKER_GRACE=1s", "SANDLOOP_SESSIONS_LIVE=0",
		"SANDLOOP_REAPER_PERIOD=5s", "SANDLOOP_REAPER_GRACE=10s", fmt.Sprintf("SANDLOOP_SANDBOX_POOL_SIZE=%d", fault.pool(phase)),
	}
	start := c.lab.StartWorker
	if fault.stepsClock {
		start = c.lab.StartSteppable
	}
	c.victim, c.other = start(t, env...), c.lab.StartWorker(t, env...)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, 2*time.Minute))
	defer cancel()
	var err error
	c.victimID, err = c.lab.AwaitWorker(ctx, c.victim)
	require.NoError(t, err)
	_, err = c.lab.AwaitWorker(ctx, c.other)
	require.NoError(t, err)
	if fault.losesWrites { // what is there before the jobs must not be forgotten, too
		<-time.After(1200 * time.Millisecond)
	}
	return c
}

func (c *cell) run() row {
	c.bring()
	c.injected = time.Now()
	require.NoError(c.t, c.fault.inject(c))
	<-time.After(c.outage())
	if c.fault.lift != nil {
		require.NoError(c.t, c.fault.lift(c))
	}
	c.lifted = time.Now()
	c.victim.Proxy.Heal()
	c.other.Proxy.Heal()
	records := c.await()
	c.judge(records)
	if c.fault.after != nil {
		c.fault.after(c)
	}
	c.requireNothingLeft()
	c.requireUnchanged(records)
	c.requireNamed()
	return c.row
}

// outage is how long the fault lasts. What is held on its way to Redis is held for long enough that somebody
// else has taken the job over.
func (c *cell) outage() time.Duration {
	d := c.fault.outage
	if short && c.fault.short > 0 {
		d = c.fault.short
	}
	if c.phase == writing && c.fault.hitsWorker {
		d = max(d, 12*time.Second)
	}
	return d
}

// endLimit is how long jobs may take to end once the fault is lifted, on a usual machine: asynq tries them again after
// 30 s at most.
const endLimit = 3 * time.Minute

// await returns the records of all jobs. One that Redis lost with its last second is handed in again, as its producer
// would that is told so.
func (c *cell) await() []jobs.Record {
	ctx, cancel := context.WithTimeout(c.t.Context(), testenv.Scale(c.t, endLimit))
	defer cancel()
	records := make([]jobs.Record, len(c.jobs))
	for i, job := range c.jobs {
		record, err := c.lab.Jobs.Await(ctx, job.ID)
		if errors.Is(err, jobs.ErrNotFound) && c.fault.losesWrites {
			c.row.resubmitted++
			_, err = c.lab.Client.Submit(ctx, job)
			require.NoError(c.t, err)
			record, err = c.lab.Jobs.Await(ctx, job.ID)
		}
		require.NoError(c.t, err)
		records[i] = record
	}
	c.row.settled = time.Since(c.lifted)
	return records
}

// judge checks each result against what the program must print, and fills the row.
func (c *cell) judge(records []jobs.Record) {
	c.row.jobs = len(c.jobs)
	for _, record := range records {
		switch result := record.Result; result.Outcome {
		case sandbox.OutcomeOK:
			c.row.ok++
			c.requireOneRun(record)
		case sandbox.OutcomeInfraError:
			c.row.infra++
			require.True(c.t, c.fault.mayGiveUp, "job %s: %s", record.JobID, result.Message)
		default:
			require.Fail(c.t, "the program is blamed", "job %s: %s: %s", record.JobID, result.Outcome, result.Message)
		}
		c.row.attempts += len(record.Attempts)
		if len(record.Attempts) > 1 {
			c.t.Logf("job %s: %+v", record.JobID, record.Attempts)
		}
		if last := len(record.Attempts) - 1; last > 0 && record.Attempts[last].Started.After(c.injected) {
			c.row.recoveries = append(c.row.recoveries, record.Attempts[last].Started.Sub(c.injected))
		}
		c.row.ends += c.ends(record.JobID)
	}
}

// requireOneRun checks that the output is that of one run, from its start to its end, and that one attempt alone was good.
func (c *cell) requireOneRun(record jobs.Record) {
	lines := strings.Fields(string(record.Result.Stdout.Data))
	require.Len(c.t, lines, 4, "job %s: %q", record.JobID, record.Result.Stdout.Data)
	require.Equal(c.t, []string{"start", lines[1], "end", lines[1]}, lines, "job %s", record.JobID)
	good := 0
	for i, attempt := range record.Attempts {
		require.Equal(c.t, i == len(record.Attempts)-1, attempt.Error == "", "job %s: %+v", record.JobID, record.Attempts)
		if attempt.Error == "" {
			good++
		}
	}
	require.Equal(c.t, 1, good, "job %s: %+v", record.JobID, record.Attempts)
	require.True(c.t, slices.IsSortedFunc(record.Attempts, func(a, b jobs.Attempt) int { return a.Number - b.Number }), "%+v", record.Attempts)
}

// ends counts the runs whose last line was sent on its way. Output is a courtesy, so there can be more.
func (c *cell) ends(id string) (n int) {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	_ = c.lab.Jobs.Follow(ctx, id, func(output sandbox.Output) { n += strings.Count(string(output.Data), "end ") })
	return n
}

// requireNothingLeft waits until the workers have removed what nobody needs, stops them and waits until what they had is gone.
func (c *cell) requireNothingLeft() {
	ctx, cancel := context.WithTimeout(c.t.Context(), testenv.Scale(c.t, 3*time.Minute))
	defer cancel()
	require.NoError(c.t, c.lab.AwaitNoOrphans(ctx))
	require.NoError(c.t, c.lab.StopWorkers())
	require.NoError(c.t, c.lab.AwaitClean(ctx))
	require.NoError(c.t, c.lab.RemoveVolumes())
	for _, w := range c.lab.Workers() {
		c.row.dropped += w.Log.Count("result dropped, another attempt owns the job")
	}
}

// requireUnchanged reads all results once more: whoever was frozen, cut off or late has had time to write.
func (c *cell) requireUnchanged(records []jobs.Record) {
	for _, before := range records {
		after, err := c.lab.Jobs.Result(c.t.Context(), before.JobID)
		require.NoError(c.t, err)
		require.JSONEq(c.t, text(c.t, before), text(c.t, after))
	}
}

func text(t *testing.T, record jobs.Record) string {
	t.Helper()
	encoded, err := json.Marshal(record)
	require.NoError(t, err)
	return string(encoded)
}

// requireNamed checks that the workers' logs tell what happened, where it concerned them.
func (c *cell) requireNamed() {
	if c.fault.silent[c.phase] {
		c.row.log = "-"
		return
	}
	for _, w := range c.lab.Workers() {
		for _, line := range w.Log.Lines() {
			for _, words := range c.fault.words {
				if line.Level != "DEBUG" && strings.Contains(line.Text, words) {
					c.row.log = words
					return
				}
			}
		}
	}
	require.Fail(c.t, "no worker's log tells what happened", "wanted one of %q", c.fault.words)
}
