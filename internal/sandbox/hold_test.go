package sandbox_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestHoldIsTheLimitOfTime(t *testing.T) {
	t.Parallel()
	table, err := sandbox.NewLanguages([]sandbox.Language{{Name: "python", Image: "i", File: "main.py", Run: []string{"python3", "{file}"}}})
	require.NoError(t, err)
	p := sandbox.Program{Language: "python", Source: []byte("1"), Hold: 9 * time.Hour, Limits: sandbox.Overrides{CPUs: ptr(2.0)}}
	defaults := sandbox.DefaultLimits()
	defaults.OutputKill = 100
	prepared, err := table.Prepare(p, defaults, sandbox.DefaultMaxima())
	require.NoError(t, err)
	require.Equal(t, 9*time.Hour, prepared.Limits.WallTime)
	require.Equal(t, 2*(9*time.Hour+time.Second), prepared.Limits.CPUTime)
	require.Zero(t, prepared.Limits.OutputKill)
	require.EqualValues(t, 256<<20, prepared.Limits.Memory)
}

func TestNoJobCanBeHeld(t *testing.T) {
	t.Parallel()
	var p sandbox.Program
	require.NoError(t, json.Unmarshal([]byte(`{"hold": 5, "Hold": 5, "hold_seconds": 5}`), &p))
	require.Zero(t, p.Hold)
}
