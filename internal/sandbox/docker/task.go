package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// task is one program in one container.
type task struct {
	runner *Runner
	box    *box
	// waited tells that the container was there before the job.
	waited  bool
	job     job
	program sandbox.Program
	limits  sandbox.Limits
	// reuse, if not nil, is under which key the container may be kept, and kept tells that it is.
	reuse *reuseKey
	kept  bool

	// renamed is closed when the container has its name.
	renamed chan struct{}
	// started is when the first step began; it is zero before.
	started time.Time
	// overdue is set when sandbox-init did not answer in time.
	overdue atomic.Bool
}

// run gives the container its job and removes the container, unless it can be reused, whatever happens, a panic of
// the caller's OnOutput included.
func (t *task) run(ctx context.Context) (sandbox.Result, error) {
	ended := false
	defer func() {
		switch {
		case t.kept:
			t.runner.keep(ctx, t.box, *t.reuse)
		case ended && ctx.Err() == nil: // whoever ended it waits until it is gone
			t.runner.removeSoon(ctx, t.box)
		default:
			t.runner.removeLogged(ctx, t.box)
		}
	}()
	t.job.spec.Reuse = t.reuse != nil && t.runner.reusable(t.box)
	t.rename(ctx)
	received, err := t.converse(ctx)
	if tests := t.job.tests; tests != nil && tests.running {
		t.limits = tests.pending.limits
	}
	if err == nil {
		ended = true
		if received.fault != "" {
			return t.faulted(ctx, received)
		}
		return resultOf(received, t.limits), nil
	}
	return t.broken(ctx, received, err)
}

// converse sends the job and receives the report. The connection is closed when it returns, unless the
// container is kept.
func (t *task) converse(ctx context.Context) (report, error) {
	b := t.box
	deadline := time.AfterFunc(inputTimeout, func() { t.overdue.Store(true); b.hangUp() })
	b.reader.SetKey(t.job.spec.Key)
	s := &session{r: b.reader, w: b.writer, job: t.job, release: t.renamed, spans: newStepSpans(ctx), started: func() {
		t.started = time.Now()
		deadline.Reset(stepTime(t.job.spec.Steps) + reportMargin)
	}}
	if t.job.tests != nil {
		s.tests, s.expires = make(chan *testCase, 1), b.expires
		s.expect = func(d time.Duration) {
			if deadline.Stop(); d > 0 {
				deadline.Reset(d)
			}
		}
	}
	sent := make(chan struct{})
	go func() { defer close(sent); _ = s.send() }() // what goes wrong shows in what is received
	canceling := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(canceling); t.interrupt(ctx) })
	keep := false
	defer func() {
		<-t.renamed
		if !keep {
			b.hangUp() // first, so that no write waits
		}
		s.talking().lose()
		s.spans.close()
		<-sent
		if !stop() {
			<-canceling
			keep = false
		}
		if t.kept = deadline.Stop() && keep; !t.kept {
			b.hangUp()
		}
	}()
	err := s.receive()
	if err == nil && s.report.early && !errors.Is(context.Cause(ctx), sandbox.ErrCanceled) {
		s.report.end, err = nil, fmt.Errorf("%w: it ended before the last step and nobody canceled it", errProtocol)
	}
	keep = err == nil && t.job.spec.Reuse && s.report.plain(t.job.tests)
	return s.report, err
}

// interrupt tells sandbox-init that the job is canceled, or just ends it if ctx ended
// for another cause.
func (t *task) interrupt(ctx context.Context) {
	<-t.renamed
	if !errors.Is(context.Cause(ctx), sandbox.ErrCanceled) {
		t.box.hangUp()
		return
	}
	// If sandbox-init does not even read, the write ends with the connection.
	time.AfterFunc(cancelGrace, t.box.hangUp)
	_ = t.box.writer.Write(wire.TypeCancel)
}

// faulted tells what it means that sandbox-init gave up.
func (t *task) faulted(ctx context.Context, received report) (sandbox.Result, error) {
	unclean := received.unclean && t.job.tests != nil && received.start != nil // before and without tests nothing of the kind is due
	switch {
	case errors.Is(context.Cause(ctx), sandbox.ErrCanceled): // the cancel came while input was due
		return brokenResult(received, t.limits, canceledVerdict), nil
	case unclean && t.job.tests.ran > 0:
		return sandbox.Result{}, errUnclean
	case unclean && received.steps[0].report != nil:
		return t.uncleanCompile(received), nil
	case unclean:
		return sandbox.Result{}, fmt.Errorf("sandbox-init in container %.12s: %s", t.box.id, received.fault)
	case received.start == nil && t.waited:
		// Perhaps a runtime that takes an update and does not follow it; a cold container will tell.
		t.runner.options.Log.Warn("waiting container could not take the job", "container", t.box.id, "fault", received.fault)
		return sandbox.Result{}, errStale
	case received.start == nil:
		return sandbox.Result{}, fmt.Errorf("sandbox-init in container %.12s: %s", t.box.id, received.fault)
	default: // user code ran, and may have brought it about
		return brokenResult(received, t.limits, sandboxLost("sandbox-init gave up: "+received.fault)), nil
	}
}

// uncleanCompile is the result of a program whose compile step left what no test can start from.
func (t *task) uncleanCompile(received report) sandbox.Result {
	t.job.tests.running = false
	result := partialResult(received, t.limits)
	result.Outcome, result.ExitCode, result.Message = sandbox.OutcomeCompileError, exitKilled, "compile: "+received.fault
	return result
}

// canceledVerdict is for a job whose report did not come in time after it was canceled.
var canceledVerdict = verdict{sandbox.OutcomeCanceled, exitKilled, "", false, "canceled"}

// sandboxLost is the verdict on a program that lost its sandbox by its own doing.
func sandboxLost(message string) verdict {
	return verdict{sandbox.OutcomeSignaled, exitSignalBase + sigkill, signalName(sigkill), false, message}
}

// broken finds out what it means that the stream ended before the report was complete.
func (t *task) broken(ctx context.Context, received report, cause error) (sandbox.Result, error) {
	ran := received.start != nil
	switch {
	case errors.Is(context.Cause(ctx), sandbox.ErrCanceled):
		return brokenResult(received, t.limits, canceledVerdict), nil
	case ctx.Err() != nil:
		return sandbox.Result{}, context.Cause(ctx)
	case t.overdue.Load() && received.finished():
		result := resultOf(received, t.limits)
		result.RefusedFiles = append(result.RefusedFiles, sandbox.RefusedFile{Path: ".", Reason: "the sandbox did not send all files in time"})
		return result, nil
	case t.overdue.Load() && ran:
		v := ending(wire.StepReport{Cause: wire.CauseWall}, t.limits)
		v.message += ", after which the sandbox did not report"
		return brokenResult(received, t.limits, v), nil
	case t.overdue.Load():
		return sandbox.Result{}, fmt.Errorf("container %.12s did not take the job within %s%s", t.box.id, inputTimeout, t.box.complaint())
	case t.waited && !ran:
		return sandbox.Result{}, errStale
	}
	f, err := t.runner.fateOf(ctx, t.box)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("container %.12s: %w: %w", t.box.id, cause, err)
	}
	return t.blame(ctx, received, f, cause)
}

// The exit codes of sandbox-init when its stdin ended and when its deadline passed.
const (
	initWorkerGone = 3
	initDeadline   = 4
)

// blame tells a program that ended its own sandbox from trouble that is not its fault.
func (t *task) blame(ctx context.Context, received report, f fate, cause error) (sandbox.Result, error) {
	// A whole frame that nobody but the program can have written. We hung up on it, so sandbox-init
	// says that its worker is gone.
	forged := received.start != nil && !errors.Is(cause, io.ErrUnexpectedEOF) &&
		(errors.Is(cause, wire.ErrForged) || errors.Is(cause, errProtocol))
	switch {
	case f.killed || (f.died && !forged && (f.exitCode == initWorkerGone || f.exitCode == initDeadline)):
		return sandbox.Result{}, fmt.Errorf("container %.12s was killed, removed or cut off while the job ran: %w", t.box.id, cause)
	case f.died && f.oom:
		v := sandboxLost("the kernel killed the whole sandbox for the memory limit of " + size(t.limits.Memory))
		v.outcome = sandbox.OutcomeOutOfMemory
		return brokenResult(received, t.limits, v), nil
	case received.start == nil:
		return sandbox.Result{}, fmt.Errorf("container %.12s ended with code %d before the job started: %w%s", t.box.id, f.exitCode, cause, t.box.complaint())
	case f.died && !forged:
		return brokenResult(received, t.limits, sandboxLost(fmt.Sprintf("the sandbox ended under the program with code %d%s", f.exitCode, t.box.complaint()))), nil
	case !forged && (errors.Is(cause, io.ErrUnexpectedEOF) || client.IsErrConnectionFailed(cause) || !t.exists(ctx)):
		return sandbox.Result{}, fmt.Errorf("connection to container %.12s was lost: %w", t.box.id, cause)
	default:
		return brokenResult(received, t.limits, sandboxLost(fmt.Sprintf("killed: what came from the sandbox was not authentic (%v)", cause))), nil
	}
}

func (t *task) exists(ctx context.Context) bool {
	_, err := t.runner.docker.ContainerInspect(ctx, t.box.id)
	return err == nil
}

// rename gives a warm container the job's name, by which whoever starts a later attempt
// finds and kills it: labels cannot be changed, and this one has none of the job. One that is to be reused
// keeps its own name, as it will soon have another job. The container
// must not end meanwhile, because a daemon that renames a container while it removes it lists it
// for ever after. So the input is held back, and nothing hangs up, until t.renamed is closed.
func (t *task) rename(ctx context.Context) {
	t.renamed = make(chan struct{})
	if t.program.ID == "" || !t.waited || t.reuse != nil {
		close(t.renamed)
		return
	}
	name := labels.JobName(t.program.ID, t.program.Attempt)
	t.runner.background.Go(func() {
		defer close(t.renamed)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renameTimeout)
		defer cancel()
		if err := t.runner.docker.ContainerRename(ctx, t.box.id, name); err != nil {
			t.runner.options.Log.Debug("container was not renamed", "container", t.box.id, "name", name, "err", err)
		}
	})
}

// stepTime is the longest that steps can take.
func stepTime(steps []wire.Step) time.Duration {
	total := time.Duration(0)
	for _, step := range steps {
		total += step.WallTime.Duration()
	}
	return total
}
