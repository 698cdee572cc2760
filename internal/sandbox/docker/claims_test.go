package docker

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// started is a conversation whose program has started.
func started() script { return script{}.json(wire.TypeStart, wire.Start{}) }

func TestAnEndThatComesTooEarlyIsNoSuccessAndNoCancel(t *testing.T) {
	t.Parallel()
	compiled, ran := wire.StepReport{Name: "compile"}, wire.StepReport{Name: "run"}
	canceled := wire.StepReport{Name: "run", Cause: wire.CauseCanceled}
	for name, tt := range map[string]struct {
		mode byte
		said script
	}{
		"before all steps":                       {playCompiled, started()},
		"before the run step":                    {playCompiled, started().json(wire.TypeStep, compiled)},
		"after the run step in its place":        {playCompiled, started().json(wire.TypeStep, ran)},
		"of a step that is said to be canceled":  {0, started().json(wire.TypeStep, canceled)},
		"while a test runs":                      {playTests, started()},
		"while a second test runs":               {playTests, started().json(wire.TypeStep, ran)},
		"of a test that is said to be canceled":  {playTests, started().json(wire.TypeStep, canceled)},
		"of a compile step, where tests are due": {playTests | playCompiled, started()},
	} {
		p, result, err := play(t, tt.mode, tt.said.json(wire.TypeEnd, wire.End{}))
		require.NoError(t, err, name)
		p.check(result)
		if tt.mode&playTests == 0 {
			require.False(t, result.OK, name)
			require.Contains(t, []sandbox.Outcome{sandbox.OutcomeSignaled, sandbox.OutcomeCompileError}, result.Outcome, name)
			require.Contains(t, result.Message, "not authentic", name)
		}
	}
	_, result, err := play(t, playCompiled|playCanceled, started().json(wire.TypeStep, compiled).json(wire.TypeEnd, wire.End{}))
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, result.Outcome, "somebody did")
	require.Equal(t, "canceled before it ran", result.Message)
}

func TestNumbersThatCannotBeAreNotBelieved(t *testing.T) {
	t.Parallel()
	_, result, err := play(t, 0, started().output(wire.TypeOutput, wire.StreamStdout, "out").json(wire.TypeStep, wire.StepReport{
		Name: "run", StdoutTotal: -1, StderrTotal: math.MinInt64, Duration: -1, CPUUser: math.MaxInt64 / 2, CPUSystem: math.MaxInt64 / 2, PeakMemory: -5, OOMKills: -1, PIDsDenied: -1,
	}).json(wire.TypeEnd, wire.End{}))
	require.NoError(t, err)
	require.True(t, result.OK)
	require.Equal(t, sandbox.Stream{Data: sandbox.Bytes("out"), Total: 3}, result.Stdout)
	require.Equal(t, sandbox.Stream{Data: sandbox.Bytes{}}, result.Stderr)
	require.Zero(t, result.Duration)
	const year = 365 * 24 * 3600 * 1_000_000_000
	require.EqualValues(t, year, result.CPUUser)
	require.EqualValues(t, 2*year, result.CPUUser+result.CPUSystem)
	require.Zero(t, result.PeakMemory)
	require.Zero(t, result.OOMKills)
	require.Zero(t, result.PIDsDenied)
}

func TestTextsOfAReportAreShortened(t *testing.T) {
	t.Parallel()
	long := "é" + strings.Repeat("x", 10_000)
	_, result, err := play(t, 0, started().json(wire.TypeStep, wire.StepReport{Name: "run", StartError: long}).json(wire.TypeEnd, wire.End{}))
	require.NoError(t, err)
	require.Equal(t, "the program cannot be started: é"+strings.Repeat("x", 8190)+"...", result.Message)
	_, result, err = play(t, 0, started().json(wire.TypeFault, wire.Fault{Message: long}))
	require.NoError(t, err)
	require.Equal(t, "sandbox-init gave up: é"+strings.Repeat("x", 8190)+"...", result.Message)
	_, result, err = play(t, 0, script{}.json(wire.TypeStart, wire.Start{Kernel: sandbox.KernelView{Interfaces: []string{strings.Repeat("x", 33_000)}}}))
	require.NoError(t, err)
	require.Contains(t, result.Message, "a start of 33")
}
