package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// What the probe started must be gone by the end, which setup looks at.
func TestProbeTellsWhetherAnyImageCanRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.Probe(t.Context()))
	absent := sandbox.Language{Name: "absent", Image: "sandloop/absent:none", File: "a", Run: []string{"a"}}
	present := sandbox.Language{Name: "present", Image: testenv.Image(t), File: "a", Run: []string{"a"}}
	for _, test := range []struct {
		languages []sandbox.Language
		works     bool
	}{
		{[]sandbox.Language{absent}, false},
		{[]sandbox.Language{absent, present}, true},
	} {
		table, err := sandbox.NewLanguages(test.languages)
		require.NoError(t, err)
		b.options.Languages = table
		if test.works {
			require.NoError(t, b.Probe(t.Context()))
		} else {
			require.ErrorIs(t, b.Probe(t.Context()), ErrImageAbsent)
		}
	}
}

func TestProbeIsOnTheRuntimeThatIsAskedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.ProbeOn(t.Context(), b.options.Runtime))
	require.ErrorContains(t, b.ProbeOn(t.Context(), "broken"), "broken", "the daemon lacks it")
}

func TestProbeOfAClosedRunner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.Close(t.Context()))
	require.ErrorIs(t, b.Probe(t.Context()), ErrClosed)
}
