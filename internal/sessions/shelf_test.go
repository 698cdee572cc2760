package sessions

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestTheInterpreterThatIsIdleLongestMakesRoom(t *testing.T) {
	t.Parallel()
	b := setup(t) // two places
	b.must(job("1", inSession, named("s")))
	b.must(job("2", inSession, named("t")))
	b.must(job("3", inSession, named("s")))
	b.must(job("4", inSession, named("u")))
	require.False(t, b.interpreters[0].isClosed(), "s was used after t")
	require.True(t, b.interpreters[1].isClosed())
	require.Equal(t, 2, b.places)
	_, report := b.must(job("5", inSession, named("t")))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "it made room for another session on its worker"}, report.Live)
	require.True(t, b.interpreters[0].isClosed())
	require.Equal(t, 2, b.places)
	require.Len(t, b.shelf, 2)
}

func TestWhenEveryInterpreterIsInUseAJobIsPutOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession, named("s")))
	b.must(job("2", inSession, named("t")))
	inside, leave := make(chan struct{}, 2), make(chan struct{})
	for _, python := range b.interpreters {
		python.cell = func(context.Context, live.Cell) (live.Outcome, error) {
			inside <- struct{}{}
			<-leave
			return fine(live.Changes{}), nil
		}
	}
	done := make(chan error, 2)
	for _, name := range []string{"s", "t"} {
		go func() {
			_, _, err := b.Run(t.Context(), job("long "+name, inSession, named(name)))
			done <- err
		}()
	}
	<-inside
	<-inside
	_, _, err := b.Run(t.Context(), job("3", inSession, named("u")))
	require.ErrorIs(t, err, jobs.ErrSessionBusy)
	b.sweep(t.Context()) // leaves alone what is in use
	close(leave)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.False(t, b.interpreters[0].isClosed())
	b.must(job("3", inSession, named("u")))
}

func TestNeverMoreInterpretersThanPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	done := make(chan error, 12)
	for i := range cap(done) {
		go func() {
			_, _, err := b.Run(t.Context(), job(fmt.Sprint(i), inSession, named(fmt.Sprint("s", i))))
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			require.ErrorIs(t, err, jobs.ErrSessionBusy)
		}
	}
	open := 0
	for _, python := range b.interpreters {
		if !python.isClosed() {
			open++
		}
	}
	require.LessOrEqual(t, open, 2)
	require.Equal(t, open, b.places)
	require.Len(t, b.shelf, open)
}

func TestIdleAndOldInterpretersEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession, named("s")))
	b.must(job("2", inSession, named("t")))
	b.sweep(t.Context())
	require.Len(t, b.shelf, 2)
	for _, e := range b.shelf {
		if e.session.Name == "s" {
			e.used = e.used.Add(-time.Hour - time.Second)
		} else {
			e.started = e.started.Add(-2*time.Hour - time.Second)
		}
	}
	b.sweep(t.Context())
	require.Empty(t, b.shelf)
	require.Zero(t, b.places)
	_, report := b.must(job("3", inSession, named("s")))
	require.Equal(t, "nobody called it for 1h0m0s", report.Live.Lost)
	_, report = b.must(job("4", inSession, named("t")))
	require.Equal(t, "no interpreter lives longer than 2h0m0s", report.Live.Lost)
}

func TestACallThatWouldNotEndInTimeGetsAnotherInterpreter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	for _, e := range b.shelf {
		e.started = e.started.Add(-2*time.Hour + 20*time.Second) // a call may take 30 s
	}
	_, report := b.must(job("2", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "no interpreter lives longer than 2h0m0s"}, report.Live)
	require.Equal(t, 30*time.Second, b.interpreters[1].cells[0].WallTime)
}

func TestADeletedSessionLosesItsInterpreter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	require.NoError(t, b.store.Delete(t.Context(), session))
	b.sweep(t.Context())
	require.True(t, b.interpreters[0].isClosed())
	_, err := b.store.Info(t.Context(), session)
	require.ErrorIs(t, err, workspace.ErrNotFound, "the end of the interpreter does not bring it back")
	_, report := b.must(job("2", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true}, report.Live, "it is a new session")
}

func TestACallWaitsForAJobThatLostTheSessionAndHasItsInterpreter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	for _, e := range b.shelf {
		e.busy = true
	}
	_, _, err := b.Run(t.Context(), job("2", inSession))
	require.ErrorIs(t, err, jobs.ErrSessionBusy)
	require.Len(t, b.interpreters[0].cells, 1)
}

// The call read the session before it was told that its interpreter ends.
func TestACallDoesNotGetAnInterpreterThatIsBeingEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	for _, e := range b.shelf {
		e.ending = "nobody called it"
	}
	_, report := b.must(job("2", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "nobody called it"}, report.Live)
	require.Len(t, b.interpreters[0].cells, 1)
	b.sweep(t.Context())
	require.False(t, b.interpreters[0].isClosed(), "it is ended once")
}

func TestWatchSweepsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.IdleTimeout = 20 * time.Millisecond })
	b.must(job("1", inSession))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Watch(ctx) }()
	<-b.interpreters[0].closed
	stop()
	<-ended
}

func TestAWorkerThatStopsEndsEachInterpreterAsSoonAsNoJobHasIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession, named("t")))
	b.must(job("2", inSession))
	inside, leave := make(chan struct{}), make(chan struct{})
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		close(inside)
		<-leave
		return fine(live.Changes{}), nil
	})
	done := make(chan error, 1)
	go func() {
		_, _, err := b.Run(t.Context(), job("3", inSession))
		done <- err
	}()
	<-inside
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b.Watch(ctx)
	require.True(t, b.interpreters[0].isClosed())
	require.False(t, b.interpreters[1].isClosed())
	close(leave)
	require.NoError(t, <-done, "its job ends well")
	require.True(t, b.interpreters[1].isClosed())
	require.Equal(t, "its worker was stopped", b.head().LiveEnded)
}

func TestCloseEndsEveryInterpreterAndSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(job("1", inSession))
	b.must(job("2", inSession, named("t")))
	b.Close(t.Context())
	require.True(t, b.interpreters[0].isClosed())
	require.True(t, b.interpreters[1].isClosed())
	require.Nil(t, b.head().Live)
	require.Equal(t, "its worker was stopped", b.head().LiveEnded)
	_, _, err := b.Run(t.Context(), job("3", inSession))
	require.ErrorIs(t, err, jobs.ErrSessionBusy, "another worker takes it")
	there := setupOn(t, b.rdb, "there")
	_, report := there.must(job("3", inSession))
	require.Equal(t, &workspace.LiveReport{Started: true, Lost: "its worker was stopped"}, report.Live)
}
