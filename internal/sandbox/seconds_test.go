package sandbox_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestSecondsInJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "2.5": 2500 * time.Millisecond, "0.000001": time.Microsecond, "-1": -time.Second, "3600": time.Hour, "1e-3": time.Millisecond, "1.001": 1001 * time.Millisecond,
	} {
		var s sandbox.Seconds
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		require.Equal(t, want, s.Duration(), text)
	}
	for value, want := range map[time.Duration]string{
		0: "0", 2500 * time.Millisecond: "2.5", time.Microsecond: "0.000001", 1499: "0.000001", 1500: "0.000002",
		30 * time.Second: "30", -time.Second: "-1", time.Hour: "3600",
	} {
		text, err := json.Marshal(sandbox.Seconds(value))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

func TestSecondsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"2"`, `null1`, `1e400`, `1e10`, `-1e10`, `NaN`, `true`, `{}`} {
		var s sandbox.Seconds
		require.Error(t, json.Unmarshal([]byte(text), &s), text)
	}
}

func TestSecondsAsText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2.5s", sandbox.Seconds(2500*time.Millisecond).String())
}
