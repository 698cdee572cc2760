package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func exampleTask() *task {
	return &task{box: &box{id: "0123456789abcdef", stream: &demux{}}, limits: sandbox.DefaultLimits()}
}

func ranReport() report {
	run := stepOutput{name: "run"}
	run.heads[0] = []byte("partial")
	return report{start: &wire.Start{}, steps: []stepOutput{run}}
}

func TestBlameForABrokenStream(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		report  report
		fate    fate
		outcome sandbox.Outcome // "" wants an error
	}{
		"sandbox was OOM-killed":                     {ranReport(), fate{died: true, exitCode: 137, oom: true}, sandbox.OutcomeOutOfMemory},
		"sandbox was OOM-killed by its input":        {report{}, fate{died: true, exitCode: 137, oom: true}, sandbox.OutcomeOutOfMemory},
		"the program ended process 1":                {ranReport(), fate{died: true, exitCode: 137}, sandbox.OutcomeSignaled},
		"process 1 crashed":                          {ranReport(), fate{died: true, exitCode: 2}, sandbox.OutcomeSignaled},
		"somebody killed it through the daemon":      {ranReport(), fate{died: true, exitCode: 137, killed: true}, ""},
		"somebody killed it after an OOM on the way": {ranReport(), fate{died: true, exitCode: 137, killed: true, oom: true}, ""},
		"the connection broke and it noticed":        {ranReport(), fate{died: true, exitCode: 3}, ""},
		"its deadline passed":                        {ranReport(), fate{died: true, exitCode: 4}, ""},
		"it ended before the job started":            {report{}, fate{died: true, exitCode: 1}, ""},
		"the daemon knows nothing of its end":        {ranReport(), fate{}, ""},
	} {
		got, err := exampleTask().blame(t.Context(), tt.report, tt.fate, io.ErrUnexpectedEOF)
		require.Equal(t, tt.outcome == "", err != nil, "%s: %v", name, err)
		require.Equal(t, tt.outcome, got.Outcome, name)
		if err == nil && tt.report.start != nil {
			require.Equal(t, "partial", string(got.Stdout.Data), name)
			require.NotEmpty(t, got.Message, name)
			require.False(t, got.OK, name)
		}
	}
}

func TestBlameForAForgedStream(t *testing.T) {
	t.Parallel()
	hungUpOn := fate{died: true, exitCode: initWorkerGone}
	forged := fmt.Errorf("frame 'E': %w", wire.ErrForged)
	for name, tt := range map[string]struct {
		report  report
		fate    fate
		cause   error
		outcome sandbox.Outcome // "" wants an error
	}{
		"wrong MAC":                            {ranReport(), hungUpOn, forged, sandbox.OutcomeSignaled},
		"wrong MAC and the sandbox stays":      {ranReport(), fate{}, forged, sandbox.OutcomeSignaled},
		"wrong order":                          {ranReport(), hungUpOn, fmt.Errorf("frame O: %w", errProtocol), sandbox.OutcomeSignaled},
		"wrong MAC after an OOM":               {ranReport(), fate{died: true, exitCode: 3, oom: true}, forged, sandbox.OutcomeOutOfMemory},
		"wrong MAC before user code ran":       {report{}, hungUpOn, forged, ""},
		"wrong MAC, but it was killed":         {ranReport(), fate{died: true, exitCode: 137, killed: true}, forged, ""},
		"the connection broke inside a frame":  {ranReport(), hungUpOn, cutFrame(), ""},
		"and the daemon did not notice so far": {ranReport(), fate{}, cutFrame(), ""},
	} {
		got, err := exampleTask().blame(t.Context(), tt.report, tt.fate, tt.cause)
		require.Equal(t, tt.outcome == "", err != nil, "%s: %v", name, err)
		require.Equal(t, tt.outcome, got.Outcome, name)
	}
}

// cutFrame is the error of a stream that ends inside a frame.
func cutFrame() error {
	_, _, err := wire.NewReader(strings.NewReader("O\x00\x00\x00\x05ab")).Read()
	return err
}

func TestProgramThatEndedBeforeItsFilesCame(t *testing.T) {
	t.Parallel()
	overdue := exampleTask()
	overdue.overdue.Store(true)
	ended := ranReport()
	ended.steps[0].report = &wire.StepReport{Name: "run", StdoutTotal: 7, Duration: sandbox.Seconds(time.Second)}
	ended.steps = append(ended.steps, stepOutput{})
	got, err := overdue.broken(t.Context(), ended, closedConnection())
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.False(t, got.TimedOut)
	require.Equal(t, "partial", string(got.Stdout.Data))
	require.Equal(t, []sandbox.RefusedFile{{Path: ".", Reason: "the sandbox did not send all files in time"}}, got.RefusedFiles)

	compiled := report{start: &wire.Start{}, steps: []stepOutput{{name: "compile", report: &wire.StepReport{Name: "compile"}}, {name: "run"}}}
	got, err = overdue.broken(t.Context(), compiled, closedConnection())
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome, "the run had not ended")
}

func TestSandboxThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	overdue := exampleTask()
	overdue.overdue.Store(true)
	got, err := overdue.broken(t.Context(), ranReport(), closedConnection())
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.True(t, got.TimedOut)
	require.Equal(t, "partial", string(got.Stdout.Data))
	_, err = overdue.broken(t.Context(), report{}, closedConnection())
	require.ErrorContains(t, err, "did not take the job")
}

func closedConnection() error { return errors.New("use of closed network connection") }

func TestFaults(t *testing.T) {
	t.Parallel()
	_, err := exampleTask().faulted(t.Context(), report{fault: "memory_bytes: asked for 5"})
	require.ErrorContains(t, err, "memory_bytes: asked for 5")

	warm := exampleTask()
	warm.waited, warm.runner = true, &Runner{options: Options{Log: slog.New(slog.DiscardHandler)}}
	_, err = warm.faulted(t.Context(), report{fault: "memory_bytes: asked for 5"})
	require.ErrorIs(t, err, errStale, "another container is tried")

	got, err := exampleTask().faulted(t.Context(), report{start: &wire.Start{}, fault: "no pipe"})
	require.NoError(t, err, "user code ran, so it is not run again")
	require.Equal(t, sandbox.OutcomeSignaled, got.Outcome)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(sandbox.ErrCanceled)
	got, err = exampleTask().faulted(ctx, report{fault: "frame 'C' while data is due"})
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
}

func TestFateIsReadFromEvents(t *testing.T) {
	t.Parallel()
	var f fate
	for _, action := range []events.Action{events.ActionCreate, events.ActionStart, events.ActionOOM, events.ActionRename} {
		f.see(events.Message{Action: action})
	}
	require.Equal(t, fate{oom: true}, f)
	f.see(events.Message{Action: events.ActionDie, Actor: events.Actor{Attributes: map[string]string{"exitCode": "137"}}})
	require.Equal(t, fate{oom: true, died: true, exitCode: 137}, f)
	f.see(events.Message{Action: events.ActionKill})
	require.True(t, f.killed)
}
