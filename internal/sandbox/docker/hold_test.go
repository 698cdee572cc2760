package docker

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestAHeldProgramOutlivesWhatAJobMay(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(1), func(o *Options) {
		o.Maxima.WallTime, o.Maxima.CPUTime = 100*time.Millisecond, 100*time.Millisecond
		o.Defaults.WallTime, o.Defaults.CPUTime, o.Defaults.OutputKill = o.Maxima.WallTime, o.Maxima.CPUTime, 10
	})
	require.NoError(t, b.Warm(t.Context()))
	p := python("import time", "end = time.process_time() + 0.3", "while time.process_time() < end: pass", "print('x' * 100)")
	p.ID, p.Attempt, p.Hold = "held", 1, 10*time.Hour
	var started []sandbox.Enforcement
	p.OnStart = func(e sandbox.Enforcement) {
		started = append(started, e)
		for _, c := range b.containers(t) {
			if c.Labels[labels.Job] != "held" {
				continue
			}
			expires, err := strconv.ParseInt(c.Labels[labels.Expires], 10, 64)
			require.NoError(t, err)
			require.Greater(t, time.Until(time.Unix(expires, 0)), 10*time.Hour)
		}
	}
	got := <-b.startTests(t.Context(), p, sandbox.Test{ID: "a"})
	require.NoError(t, got.err)
	require.Equal(t, sandbox.OutcomeOK, got.tests[0].Outcome, got.tests[0].Message)
	require.Len(t, started, 1)
	require.Equal(t, 256*sandbox.MiB, started[0].MemoryBytes)
	require.Equal(t, got.whole.Enforcement, started[0])
	require.EqualValues(t, 1, b.Stats().ColdStarts, "no container that waits goes on for long enough")
}

func TestHoldIsTheWallTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import time", "print('before', flush=True)", "time.sleep(99)")
	p.Hold = testenv.Scale(t, time.Second)
	result := b.run(t, p)
	require.Equal(t, sandbox.OutcomeWallTimeout, result.Outcome)
	require.Equal(t, "before\n", string(result.Stdout.Data))
}
