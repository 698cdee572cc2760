package testenv_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestScaleFollowsTheEnvironment(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":    2 * time.Second,
		"1":   2 * time.Second,
		"2.5": 5 * time.Second,
		"10":  20 * time.Second,
	} {
		t.Setenv("SANDLOOP_TIME_SCALE", text)
		require.Equal(t, want, testenv.Scale(t, 2*time.Second), "scale %q", text)
	}
}
