package judge

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// checkedBy is a suite of n tests with one validator.
func checkedBy(n int, validator sandbox.Program) grade.Task {
	suite := numbered(n)
	suite.Checker = grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{validator}}
	return grade.Task{Suite: suite}
}

func accept(sandbox.Test) sandbox.TestResult { return accepting() }

func TestOneSessionServesManySubmissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := checkedBy(3, b.program("v", accept))
	for range 4 {
		require.Equal(t, grade.AC, b.judged(t, b.program("p", echo), task).Verdict)
	}
	require.Equal(t, 4, b.runner.startedOf("p"))
	require.Equal(t, 1, b.runner.startedOf("v"), "compiled once")
	require.Equal(t, []string{"1", "2", "3", "1", "2", "3", "1", "2", "3", "1", "2", "3"}, b.runner.ids("v"))
}

func TestOtherProgramsHaveOtherSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.program("v", accept)
	require.Equal(t, grade.AC, b.judged(t, b.program("p", echo), checkedBy(1, v)).Verdict)
	v.Limits.Memory = ptr(100 * sandbox.MiB)
	require.Equal(t, grade.AC, b.judged(t, b.program("p", echo), checkedBy(1, v)).Verdict)
	require.Equal(t, 2, b.runner.startedOf("v"))
}

// A check program comes with the job, so it must not run anywhere but where the tenant's programs do.
func TestTenantsOfOtherClassesHaveOtherSessions(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) {
		o.Class = func(tenant string) string { return tenant[:1] }
	})
	v := b.program("v", accept)
	judge := func(tenants ...string) {
		for _, tenant := range tenants {
			p := b.program("p", echo)
			p.Tenant = tenant
			require.Equal(t, grade.AC, b.judged(t, p, checkedBy(1, v)).Verdict)
		}
	}
	judge("guest-1", "guest-2", "staff", "guest-1")
	require.Equal(t, []string{"guest-1", "staff"}, b.runner.tenants["v"])
	v.Network = true
	judge("guest-1", "guest-2", "guest-1")
	require.Equal(t, []string{"guest-1", "staff", "guest-1", "guest-2"}, b.runner.tenants["v"], "the right to a network is each tenant's own")
}

func TestThereAreNoMoreSessionsThanRequestsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := checkedBy(20, b.program("v", accept))
	p := b.program("p", echo)
	var all sync.WaitGroup
	verdicts := make([]grade.Verdict, 8)
	for i := range verdicts {
		all.Go(func() {
			if _, report, err := b.Judge.Judge(t.Context(), p, task); err == nil {
				verdicts[i] = report.Verdict
			}
		})
	}
	all.Wait()
	for _, verdict := range verdicts {
		require.Equal(t, grade.AC, verdict)
	}
	require.LessOrEqual(t, b.runner.startedOf("v"), 8)
	require.Len(t, b.runner.ids("v"), 160)
}

func TestAnIdleSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		task := checkedBy(1, b.program("v", accept))
		b.judged(t, b.program("p", echo), task)
		time.Sleep(29 * time.Second)
		require.Equal(t, 1, b.runner.openOf("v"))
		b.judged(t, b.program("p", echo), task)
		time.Sleep(29 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, b.runner.openOf("v"), "it was used meanwhile")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Zero(t, b.runner.openOf("v"))
		require.Empty(t, b.sessions.all)
		b.judged(t, b.program("p", echo), task)
		require.Equal(t, 2, b.runner.startedOf("v"))
	})
}

func TestAnOldSessionEndsAlthoughItIsInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		task := checkedBy(1, b.program("v", accept))
		for range 31 { // 10 minutes
			b.judged(t, b.program("p", echo), task)
			time.Sleep(20 * time.Second)
		}
		require.Equal(t, 2, b.runner.startedOf("v"))
	})
}

func TestTheSessionThatWaitsLongestMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *Options) { o.IdleSessions = 2 })
		for i := range 4 {
			b.judged(t, b.program("p", echo), checkedBy(1, b.program(fmt.Sprint(i), accept)))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		open := []int{b.runner.openOf("0"), b.runner.openOf("1"), b.runner.openOf("2"), b.runner.openOf("3")}
		require.Equal(t, []int{0, 0, 1, 1}, open)
	})
}

func TestASessionThatBreaksFailsItsRequestOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fine := func(_ context.Context, test sandbox.Test) sandbox.TestResult { return accept(test) }
	v := b.behaves("v", behavior{run: fine, err: errBroken, failAfter: 2})
	p := b.program("p", echo)
	_, report, err := b.Judge.Judge(t.Context(), p, checkedBy(3, v))
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, `check test "3": output validator in fake: daemon gone`)
	require.Nil(t, report)
	b.behaves("v", behavior{run: fine})
	require.Equal(t, grade.AC, b.judged(t, p, checkedBy(3, v)).Verdict)
	require.Equal(t, 2, b.runner.startedOf("v"))
}

func TestAPanicOfTheRunnerIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.program("v", func(sandbox.Test) sandbox.TestResult { panic("bug") })
	_, _, err := b.Judge.Judge(t.Context(), b.program("p", echo), checkedBy(1, v))
	require.ErrorContains(t, err, "runner panicked: bug")
}

func TestACanceledJobLeavesTheSessionToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered, release := make(chan struct{}), make(chan struct{})
	v := b.program("v", func(test sandbox.Test) sandbox.TestResult {
		if test.ID == "slow" {
			close(entered)
			<-release
		}
		return accepting()
	})
	slow := checkedBy(1, v)
	slow.Suite.Tests[0].Name = "slow"
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-entered; cancel(sandbox.ErrCanceled) }()
	result, report, err := b.Judge.Judge(ctx, b.program("p", echo), slow)
	require.NoError(t, err)
	require.Nil(t, report)
	require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
	require.Equal(t, 1, b.runner.openOf("v"), "it goes on")
	close(release)
	require.Eventually(t, func() bool {
		b.sessions.mu.Lock()
		defer b.sessions.mu.Unlock()
		return len(b.sessions.idle) == 1
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, grade.AC, b.judged(t, b.program("p", echo), checkedBy(2, v)).Verdict)
	require.Equal(t, 1, b.runner.startedOf("v"))
}

func TestCloseEndsAllSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered := make(chan struct{})
	busy := b.behaves("busy", behavior{run: func(ctx context.Context, _ sandbox.Test) sandbox.TestResult {
		close(entered)
		<-ctx.Done()
		return sandbox.TestResult{}
	}})
	b.judged(t, b.program("p", echo), checkedBy(1, b.program("idle", accept)))
	failed := make(chan error, 1)
	p := b.program("p", echo)
	go func() {
		_, _, err := b.Judge.Judge(t.Context(), p, checkedBy(1, busy))
		failed <- err
	}()
	<-entered
	require.NoError(t, b.Close(t.Context()))
	require.ErrorIs(t, <-failed, errClosed)
	require.Zero(t, b.runner.openOf("idle"))
	require.Zero(t, b.runner.openOf("busy"))
	_, _, err := b.Judge.Judge(t.Context(), p, checkedBy(1, busy))
	require.ErrorIs(t, err, errClosed)
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered, release := make(chan struct{}), make(chan struct{})
	stuck := b.program("stuck", func(sandbox.Test) sandbox.TestResult { close(entered); <-release; return accepting() })
	p := b.program("p", echo)
	failed := make(chan error, 1)
	go func() {
		_, _, err := b.Judge.Judge(t.Context(), p, checkedBy(1, stuck))
		failed <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Close(ctx), context.Canceled)
	close(release)
	require.ErrorIs(t, <-failed, errClosed)
}
