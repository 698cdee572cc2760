package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestRunReportsEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import sys", "print(6 * 7, sys.argv[1:])", "print('warning', file=sys.stderr)", "sum(range(10**6))")
	p.Args = []string{"a b", "$HOME"}
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.True(t, got.OK)
	require.Zero(t, got.ExitCode)
	require.Empty(t, got.Message)
	require.Equal(t, "42 ['a b', '$HOME']\n", string(got.Stdout.Data))
	require.Equal(t, "warning\n", string(got.Stderr.Data))
	require.Positive(t, got.Duration)
	require.Positive(t, got.StartupTime)
	require.Positive(t, got.CPUUser)
	require.Positive(t, got.PeakMemory)
	require.Nil(t, got.Compile)
	require.Equal(t, testenv.Image(t), got.Enforcement.Image)
	require.False(t, got.Enforcement.Warm)
	require.Equal(t, Stats{ColdStarts: 1, Open: b.Stats().Open}, b.Stats())
}

func TestProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	languages, err := sandbox.NewLanguages([]sandbox.Language{{Name: "x", Image: testenv.Image(t), File: "x", Run: []string{"no-such-interpreter", "{file}"}}})
	require.NoError(t, err)
	b := setup(t, func(o *Options) { o.Languages = languages })
	got := b.run(t, sandbox.Program{Language: "x", Source: []byte("x")})
	require.Equal(t, sandbox.OutcomeNonzeroExit, got.Outcome)
	require.Equal(t, 127, got.ExitCode)
	require.Contains(t, got.Message, "no-such-interpreter: not found")
}
