package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestASecondJobIsPutOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.patience = 50 * time.Millisecond
	inside, leave := make(chan struct{}), make(chan struct{})
	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		close(inside)
		<-leave
		return sandbox.Result{}, nil
	}
	first := make(chan error, 1)
	go func() {
		_, _, err := b.Run(t.Context(), job("1"))
		first <- err
	}()
	<-inside
	_, _, err := b.Run(t.Context(), job("2"))
	require.ErrorIs(t, err, jobs.ErrSessionBusy)
	close(leave)
	require.NoError(t, <-first)
}

// Each job that waits has a slot, which others could use.
func TestOnlyOneJobOfASessionWaitsLong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.patience = time.Hour
	inside, leave := make(chan struct{}, 2), make(chan struct{})
	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		inside <- struct{}{}
		<-leave
		return sandbox.Result{}, nil
	}
	done := make(chan error, 2)
	start := func(id string) {
		go func() {
			_, _, err := b.Run(t.Context(), job(id))
			done <- err
		}()
	}
	start("1")
	<-inside
	start("2")
	require.Eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.waiting[session] }, time.Minute, time.Millisecond)
	_, _, err := b.Run(t.Context(), job("3"))
	require.ErrorIs(t, err, jobs.ErrSessionBusy)
	close(leave)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Empty(t, b.waiting)
}

func TestNoUpdateIsLostBetweenWorkers(t *testing.T) {
	t.Parallel()
	first := setup(t)
	second := setupOn(t, first.rdb, "there")
	add := func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		files["n"] += "x"
		return sandbox.Result{}, nil
	}
	first.run, second.run = add, add
	const each = 10
	done := make(chan error, 2*each)
	for i := range each {
		for _, b := range []*bundle{first, second} {
			go func() {
				err := jobs.ErrSessionBusy
				for errors.Is(err, jobs.ErrSessionBusy) { // as the queue does with a job that is put off
					_, _, err = b.Run(t.Context(), job(fmt.Sprintf("%s-%d", b.options.Worker, i)))
				}
				done <- err
			}()
		}
	}
	for range 2 * each {
		require.NoError(t, <-done)
	}
	require.Equal(t, map[string]string{"n": strings.Repeat("x", 2*each)}, first.files())
}
