package sessions

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// inSession has a job run live.
func inSession(j *jobs.SessionJob) { j.Session.Live = true }

func restart(j *jobs.SessionJob) { j.Session.Live, j.Session.Restart = true, true }

func language(name string) func(*jobs.SessionJob) {
	return func(j *jobs.SessionJob) { j.Program.Language = name }
}

func named(name string) func(*jobs.SessionJob) {
	return func(j *jobs.SessionJob) { j.Session.Name = name }
}

// does sets what the cells of the newest interpreter do.
func (b *bundle) does(cell func(context.Context, live.Cell) (live.Outcome, error)) {
	b.interpreters[len(b.interpreters)-1].cell = cell
}

// writes sets what the cells of the newest interpreter write.
func (b *bundle) writes(files map[string]string, deleted ...string) {
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		return fine(live.Changes{Written: list(files), Deleted: deleted}), nil
	})
}

// head is what Redis knows of the session.
func (b *bundle) head() workspace.Head {
	b.t.Helper()
	head, err := b.store.Info(b.t.Context(), session)
	require.NoError(b.t, err)
	return head
}

func TestCallsOfALiveSessionShareAnInterpreter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"data": "d"})
	result, report := b.must(job("1", inSession))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome)
	require.Equal(t, &workspace.Report{Version: 1, Live: &workspace.LiveReport{Started: true}}, report)
	require.Len(t, b.interpreters, 1)
	python := b.interpreters[0]
	require.Equal(t, map[string]string{"data": "d"}, python.files)
	require.Equal(t, "python", python.program.Language)
	require.NotContains(t, python.program.ID, "1-", "it outlives its first job")

	b.writes(map[string]string{"new": "n"}, "data")
	_, report = b.must(job("2", inSession))
	require.Equal(t, &workspace.Report{Version: 2, Written: []string{"new"}, Deleted: []string{"data"}, Live: &workspace.LiveReport{}}, report)
	require.Equal(t, map[string]string{"new": "n"}, b.files())
	require.Len(t, b.interpreters, 1)
	require.Equal(t, "source of 2", python.cells[1].Source)
	require.Equal(t, "cell 2", python.cells[1].Name)
	require.Empty(t, python.cells[1].Write)

	b.does(nil)
	_, report = b.must(job("3", inSession))
	require.Equal(t, &workspace.Report{Version: 2, Live: &workspace.LiveReport{}}, report)
	holder := b.head().Live
	require.Equal(t, "here", holder.Worker)
	require.Equal(t, "python", holder.Language)
	_, again := b.must(job("2", inSession))
	require.Equal(t, []string{"new"}, again.Written, "a job that committed does not run again")
	_, again = b.must(job("3", inSession))
	require.Equal(t, &workspace.Report{Version: 2, Live: &workspace.LiveReport{}}, again, "nor one that perhaps changed variables alone")
	require.Len(t, python.cells, 3)
}

func TestALiveCallFindsWhatOthersDidToTheFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"same": "s", "changed": "1", "gone": "g"})
	b.must(job("1", inSession))
	python := b.interpreters[0]
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		delete(files, "gone")
		files["changed"], files["by/bash"] = "2", "b"
		return sandbox.Result{}, nil
	}
	_, report := b.must(job("2", language("bash"), inSession))
	require.Nil(t, report.Live, "there are no live interpreters of bash")
	_, report = b.must(job("3", inSession))
	require.Equal(t, map[string]string{"same": "s", "changed": "2", "by/bash": "b"}, python.files)
	require.Equal(t, map[string]string{"changed": "2", "by/bash": "b"}, texts(python.cells[1].Write), "and nothing that it had")
	require.Equal(t, []string{"gone"}, python.cells[1].Delete)
	require.Equal(t, &workspace.Report{Version: 2, Live: &workspace.LiveReport{}}, report)
}

func TestFilesThatALiveCallBringsAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"a": "1"})
	b.must(job("1", inSession))
	b.writes(map[string]string{"b": "by the cell"})
	_, report := b.must(job("2", inSession, func(j *jobs.SessionJob) { j.Program.Files = list(map[string]string{"a": "2", "b": "brought"}) }))
	require.Equal(t, []string{"a", "b"}, report.Written)
	require.Equal(t, map[string]string{"a": "2", "b": "by the cell"}, b.files())
	b.does(nil)
	b.must(job("3", inSession))
	require.Empty(t, b.interpreters[0].cells[2].Write, "it has them")
}

func TestWhatALiveCallDidWithoutACommitIsUndone(t *testing.T) {
	t.Parallel()
	large := live.Changes{Written: list(map[string]string{"a": "2", "large": "123456789"})}
	limit := sandbox.RefusedFile{Path: ".", Reason: "changed files have 99 bytes", Limit: true}
	for name, c := range map[string]struct {
		outcome live.Outcome
		refused string
		write   map[string]string
		remove  []string
	}{
		"canceled": {live.Outcome{Result: sandbox.Result{Outcome: sandbox.OutcomeCanceled, Collected: true}, Changes: large}, "", map[string]string{"a": "1"}, []string{"large"}},
		"quota":    {fine(large), "the session would hold 11 bytes: want at most 10: no change of this job is kept", map[string]string{"a": "1"}, []string{"large"}},
		"limit":    {fine(live.Changes{Refused: []sandbox.RefusedFile{limit}}), nothingKept.Reason, map[string]string{"a": "1", "b": "b"}, []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(o *Options) { o.Quota = 10 })
			b.has(t.Context(), map[string]string{"a": "1", "b": "b"})
			b.must(job("1", inSession))
			b.does(func(context.Context, live.Cell) (live.Outcome, error) { return c.outcome, nil })
			result, report := b.must(job("2", inSession))
			require.Equal(t, c.outcome.Result.Outcome, result.Outcome, "it is the program's own")
			require.EqualValues(t, 1, report.Version)
			require.Empty(t, report.Written)
			if c.refused != "" {
				require.Equal(t, c.refused, report.Refused[len(report.Refused)-1].Reason)
			}
			require.Equal(t, map[string]string{"a": "1", "b": "b"}, b.files())
			b.does(nil)
			b.must(job("3", inSession))
			python := b.interpreters[0]
			require.Equal(t, map[string]string{"a": "1", "b": "b"}, python.files)
			require.Equal(t, c.write, texts(python.cells[2].Write))
			require.Equal(t, c.remove, python.cells[2].Delete)
			require.Len(t, b.interpreters, 1, "variables live on")
		})
	}
}

func TestAFileThatALiveCallMayNotKeepBecauseOfItsKindHindersNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	link := sandbox.RefusedFile{Path: "link", Reason: "is a symbolic link, not a file"}
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		return fine(live.Changes{Written: list(map[string]string{"a": "1"}), Refused: []sandbox.RefusedFile{link}}), nil
	})
	_, report := b.must(job("2", inSession))
	require.Equal(t, []string{"a"}, report.Written)
	require.Equal(t, []sandbox.RefusedFile{link}, report.Refused)
}

func TestFiguresAndFilesThatALiveCallAsksForComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"old.png": "old", "x": "x"})
	b.must(job("1", inSession))
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		outcome := fine(live.Changes{Written: list(map[string]string{"new.png": "new", "figure-1.png": "other"})})
		outcome.Result.Files = list(map[string]string{"figure-1.png": "figure"})
		outcome.Report.Value = "42"
		return outcome, nil
	})
	result, report := b.must(job("2", inSession, func(j *jobs.SessionJob) { j.Program.Outputs = []string{"*.png"} }))
	require.Equal(t, map[string]string{"figure-1.png": "figure", "new.png": "new", "old.png": "old"}, texts(result.Files))
	require.Equal(t, "42", report.Live.Value)
	require.Positive(t, result.StartupTime)
}

func TestASessionThatLivesElsewhere(t *testing.T) {
	t.Parallel()
	here := setup(t)
	there := setupOn(t, here.rdb, "there")
	there.must(job("1", inSession))
	here.alive["there"] = true
	_, _, err := here.Run(t.Context(), job("2", inSession))
	var elsewhere *jobs.ElsewhereError
	require.ErrorAs(t, err, &elsewhere)
	require.Equal(t, "there", elsewhere.Worker)
	require.Nil(t, here.head().Busy, "the other can have it at once")
	_, _, err = here.Run(t.Context(), job("2", restart))
	require.ErrorAs(t, err, &elsewhere, "who has it starts it anew")

	there.writes(map[string]string{"a": "1"})
	there.must(job("2", inSession))
	here.alive["there"] = false
	_, report := here.must(job("3", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "the worker that held the interpreter was lost"}, report.Live)
	require.Equal(t, map[string]string{"a": "1"}, here.interpreters[0].files)
	require.Equal(t, "here", here.head().Live.Worker)

	// It was only frozen.
	require.False(t, there.interpreters[0].isClosed())
	there.sweep(t.Context())
	require.True(t, there.interpreters[0].isClosed())
	require.Equal(t, "here", here.head().Live.Worker)
	there.alive["here"] = true
	_, _, err = there.Run(t.Context(), job("4", inSession))
	require.ErrorAs(t, err, &elsewhere)
}

func TestWhenNobodyKnowsWhoLivesTheJobIsTriedAgain(t *testing.T) {
	t.Parallel()
	failure := errors.New("no Redis")
	here := setup(t, func(o *Options) {
		o.Alive = func(context.Context, ...string) (map[string]bool, error) { return nil, failure }
	})
	there := setupOn(t, here.rdb, "there")
	there.must(job("1", inSession))
	_, _, err := here.Run(t.Context(), job("2", inSession))
	require.ErrorIs(t, err, failure)
	require.Empty(t, here.interpreters)
}

func TestAfterTheEndOfAnInterpreterTheNextCallSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(b *bundle)
		lost string
	}{
		"the code ended it": {func(b *bundle) {
			b.does(func(context.Context, live.Cell) (live.Outcome, error) {
				outcome := fine(live.Changes{Written: list(map[string]string{"a": "1"})})
				outcome.Report.Ended = "the code ended the interpreter"
				return outcome, nil
			})
			_, report := b.must(job("2", inSession))
			require.Equal(b.t, "the code ended the interpreter", report.Live.Ended)
			require.Equal(b.t, []string{"a"}, report.Written)
		}, "the code ended the interpreter"},
		"it died between two calls": {func(b *bundle) { b.interpreters[0].die("killed") }, "killed"},
		"died, and the sweep saw it": {func(b *bundle) {
			b.interpreters[0].die("killed")
			b.sweep(b.t.Context())
			require.Nil(b.t, b.head().Live)
		}, "killed"},
		"a restart is asked for": {func(*bundle) {}, "a restart was asked for"},
		"another process had the worker's id": {func(b *bundle) {
			b.mu.Lock()
			defer b.mu.Unlock()
			clear(b.shelf)
			b.interpreters[0].Close()
		}, "the worker that held the interpreter does not have it any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(job("1", inSession))
			c.end(b)
			_, report := b.must(job("3", inSession, func(j *jobs.SessionJob) { j.Session.Restart = name == "a restart is asked for" }))
			require.Equal(t, &workspace.LiveReport{Started: true, Lost: c.lost}, report.Live)
			require.Len(t, b.interpreters, 2)
			require.True(t, b.interpreters[0].isClosed())
			_, report = b.must(job("4", inSession))
			require.Equal(t, &workspace.LiveReport{}, report.Live)
		})
	}
}

func TestAnotherLanguageRunsBesideTheInterpreter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	b.writes(map[string]string{"a": "1"})
	b.must(job("2", inSession))
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		require.Equal(t, map[string]string{"a": "1", "main.js": "source of 3"}, files)
		return sandbox.Result{}, nil
	}
	_, report := b.must(job("3", inSession, language("node")))
	require.Nil(t, report.Live)
	_, report = b.must(job("4", inSession))
	require.Equal(t, &workspace.LiveReport{}, report.Live, "variables live on")

	there := setupOn(t, b.rdb, "there")
	there.alive["here"], there.run = true, b.run
	_, report = there.must(job("3b", inSession, language("node"), func(j *jobs.SessionJob) { j.Program.Source = []byte("source of 3") }))
	require.Nil(t, report.Live, "any worker can run it")

	_, report = b.must(job("5", restart, language("node")))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "a restart was asked for"}, report.Live)
	require.Equal(t, "node", b.head().Live.Language)
	require.Equal(t, "node", b.interpreters[1].program.Language)
	require.True(t, b.interpreters[0].isClosed())
}

func TestAFailureOfOurOwnEndsTheInterpreter(t *testing.T) {
	t.Parallel()
	failure := errors.New("connection lost")
	b := setup(t)
	b.must(job("1", inSession))
	b.does(func(context.Context, live.Cell) (live.Outcome, error) { return live.Outcome{}, failure })
	_, _, err := b.Run(t.Context(), job("2", inSession))
	require.ErrorIs(t, err, failure)
	require.True(t, b.interpreters[0].isClosed(), "half a call may have changed variables, and the job runs again")
	_, report := b.must(job("2", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "a call failed in it, which was not the code's fault"}, report.Live)

	b.startError = failure
	for id := range 3 {
		_, _, err = b.Run(t.Context(), job("3", inSession, named(string(rune('a'+id)))))
		require.ErrorIs(t, err, failure)
	}
	require.Equal(t, 1, b.places, "one that did not start takes no place")
}

func TestAThawedWorkerEndsTheInterpreterWhoseCommitIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	b.does(func(ctx context.Context, _ live.Cell) (live.Outcome, error) {
		require.NoError(t, b.store.Delete(ctx, session))
		b.has(ctx, map[string]string{"a": "the next one's"})
		return fine(live.Changes{Written: list(map[string]string{"a": "mine"})}), nil
	})
	_, _, err := b.Run(t.Context(), job("2", inSession))
	require.ErrorIs(t, err, workspace.ErrFenced)
	require.True(t, b.interpreters[0].isClosed())
	require.Equal(t, map[string]string{"a": "the next one's"}, b.files())
	require.Empty(t, b.head().LiveEnded, "it is not that session's")
}

func TestAnInterpreterThatTookItsFilesWithItLeavesThoseFromBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"a": "1"})
	b.must(job("1", inSession))
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		outcome := live.Outcome{Result: sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory}, Changes: live.Changes{Deleted: []string{"a"}}}
		outcome.Report.Ended = "the kernel killed it"
		return outcome, nil
	})
	result, report := b.must(job("2", inSession, func(j *jobs.SessionJob) { j.Program.Files = list(map[string]string{"b": "2"}) }))
	require.Equal(t, sandbox.OutcomeOutOfMemory, result.Outcome)
	require.Equal(t, []sandbox.RefusedFile{lostFiles}, report.Refused)
	require.Equal(t, map[string]string{"a": "1"}, b.files())
	_, report = b.must(job("3", inSession))
	require.Equal(t, "the kernel killed it", report.Live.Lost)
	require.Equal(t, map[string]string{"a": "1"}, b.interpreters[1].files)
}

func TestAnInterpreterThatEndsJustBeforeTheCallIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	first := b.interpreters[0]
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		first.die("killed in the night")
		return live.Outcome{}, fmt.Errorf("run: %w", live.ErrEnded)
	})
	_, report := b.must(job("2", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "killed in the night"}, report.Live)
	require.Equal(t, 1, b.places)
}

func TestAnInterpreterThatCannotBeHadIsAResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refusal := sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: "network: none here"}
	b.startError = &live.RejectedError{Result: refusal}
	result, report := b.must(job("1", inSession))
	require.Equal(t, refusal, result)
	require.Equal(t, &workspace.Report{}, report)
	require.Zero(t, b.places)
}

func TestAPanicEndsTheInterpreterAndFreesTheSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	b.does(func(context.Context, live.Cell) (live.Outcome, error) { panic("in OnOutput") })
	require.Panics(t, func() { _, _, _ = b.Run(t.Context(), job("2", inSession)) })
	require.True(t, b.interpreters[0].isClosed())
	_, report := b.must(job("3", inSession))
	require.True(t, report.Live.Started)
}
