package docker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// actDuring runs a program and calls act as soon as it has written its first output.
func actDuring(t *testing.T, b *bundle, p sandbox.Program, act func(cancel context.CancelCauseFunc)) (sandbox.Result, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	running := make(chan struct{})
	p.OnOutput = func(sandbox.Output) {
		select {
		case <-running:
		default:
			close(running)
		}
	}
	var acted time.Time
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-running
		acted = time.Now()
		act(cancel)
	}()
	result, err := b.Run(ctx, p)
	<-done
	return result, time.Since(acted), err
}

const bomb = ":(){ :|:& };:"

func TestCaseCancelOfAForkBombIsQuick(t *testing.T) {
	b := setup(t) // not parallel: it measures time
	got, took, err := actDuring(t, b, bash("echo partial", bomb, "sleep 60"), func(cancel context.CancelCauseFunc) { cancel(sandbox.ErrCanceled) })
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.Equal(t, "partial\n", string(got.Stdout.Data))
	require.Less(t, took, testenv.Scale(t, 500*time.Millisecond))
}

func TestCaseCancelOfDaemonsThatIgnoreSignals(t *testing.T) {
	b := setup(t) // not parallel: it measures time
	got, took, err := actDuring(t, b, bash("trap '' TERM INT HUP", "(setsid bash -c 'trap \"\" TERM; sleep 60' &)", "echo up", "while :; do sleep 60; done"),
		func(cancel context.CancelCauseFunc) { cancel(sandbox.ErrCanceled) })
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
	require.Less(t, took, testenv.Scale(t, 500*time.Millisecond))
}

func TestCaseCancelBeforeItRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(sandbox.ErrCanceled)
	got, err := b.Run(ctx, bash("echo no"))
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, got.Outcome)
	require.Empty(t, got.Stdout.Data)
}

func TestCaseOtherEndsOfTheContextAreErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := errors.New("attempt lost")
	_, _, err := actDuring(t, b, bash("echo up", bomb, "sleep 60"), func(cancel context.CancelCauseFunc) { cancel(lost) })
	require.ErrorIs(t, err, lost)
	require.Empty(t, b.containers(t), "the container is gone when Run returns")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lost)
	_, err = b.Run(ctx, bash("echo no"))
	require.ErrorIs(t, err, lost)
}

func TestCaseContainerRemovedByHandIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _, err := actDuring(t, b, bash("echo up", "sleep 60"), func(context.CancelCauseFunc) {
		for _, c := range b.containers(t) {
			_ = b.docker.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true})
		}
	})
	require.ErrorContains(t, err, "killed, removed or cut off while the job ran")
}

func TestCaseContainerKilledByHandIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _, err := actDuring(t, b, bash("echo up", "sleep 60"), func(context.CancelCauseFunc) {
		for _, c := range b.containers(t) {
			_ = b.docker.ContainerKill(context.Background(), c.ID, "SIGKILL")
		}
	})
	require.ErrorContains(t, err, "killed, removed or cut off while the job ran")
}

func TestKillOlderEndsOnlyOlderAttemptsOfTheJob(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1} {
		b := setup(t, pooled(size))
		require.NoError(t, b.Warm(t.Context()))
		p := bash("echo up", "sleep 60")
		p.ID, p.Attempt = "job-"+labels.JobName(b.installation, 0), 2
		_, _, err := actDuring(t, b, p, func(context.CancelCauseFunc) {
			named := func() bool {
				for _, c := range b.containers(t) {
					if c.Names[0] == "/"+labels.JobName(p.ID, 2) {
						return true
					}
				}
				return false
			}
			require.Eventually(t, named, testenv.Scale(t, 10*time.Second), 5*time.Millisecond)
			require.NoError(t, b.KillOlder(context.Background(), p.ID, 2))
			require.NoError(t, b.KillOlder(context.Background(), "another", 9))
			require.True(t, named(), "neither the same attempt nor another job is killed")
			require.NoError(t, b.KillOlder(context.Background(), p.ID, 3))
		})
		require.ErrorContains(t, err, "killed, removed or cut off while the job ran")
	}
}

func TestPanicOfTheCallerLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("echo up", "sleep 60")
	p.OnOutput = func(sandbox.Output) { panic("in OnOutput") }
	require.PanicsWithValue(t, "in OnOutput", func() { _, _ = b.Run(t.Context(), p) })
	require.Empty(t, b.containers(t))
}

func TestClosedRunnerRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1))
	require.NoError(t, b.Warm(t.Context()))
	require.Len(t, b.containers(t), 1)
	require.NoError(t, b.Close(t.Context()))
	require.Empty(t, b.containers(t))
	_, err := b.Run(t.Context(), bash("echo no"))
	require.ErrorIs(t, err, ErrClosed)
}

func TestAbsentImage(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Languages = testLanguages(t, "sandloop/absent:none") })
	_, err := b.Run(t.Context(), bash("echo no"))
	require.ErrorIs(t, err, ErrImageAbsent)
	require.ErrorContains(t, err, "make setup")
}
