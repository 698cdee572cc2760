package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTestHasTheProgramsLimitsUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	program := DefaultLimits()
	program.WallTime, program.CPUTime = 9*time.Second, 3*time.Second
	second, minute := Seconds(time.Second), Seconds(time.Minute)
	for name, tt := range map[string]struct {
		test      Test
		wall, cpu time.Duration
	}{
		"neither": {Test{}, 9 * time.Second, 3 * time.Second},
		"wall":    {Test{WallTime: &minute}, time.Minute, 3 * time.Second},
		"cpu":     {Test{CPUTime: &second}, 9 * time.Second, time.Second},
		"both":    {Test{WallTime: &minute, CPUTime: &second}, time.Minute, time.Second},
	} {
		got, err := tt.test.Resolve(program, DefaultMaxima())
		require.NoError(t, err, name)
		want := program
		want.WallTime, want.CPUTime = tt.wall, tt.cpu
		require.Equal(t, want, got, name)
	}
}

func TestTestThatCannotRunIsRefused(t *testing.T) {
	t.Parallel()
	program := DefaultLimits()
	program.InputBytes = 10
	zero, day := Seconds(0), Seconds(24*time.Hour)
	for want, test := range map[string]Test{
		"limits.wall_seconds: 24h0m0s is not allowed":   {WallTime: &day},
		"limits.cpu_seconds: 0s is not allowed":         {CPUTime: &zero},
		"stdin: is 11 bytes: want at most 10":           {Stdin: []byte("12345678901")},
		"args[1]: is not UTF-8":                         {Args: []string{"fine", "\xff"}},
		"args: 4097 are given: want at most 4096":       {Args: make([]string, 4097)},
		"args: are 1100011 bytes together: want at mos": {Args: strings.Split(strings.Repeat(strings.Repeat("x", 100_000)+" ", 11)[:1_100_010], " ")},
	} {
		_, err := test.Resolve(program, DefaultMaxima())
		require.ErrorContains(t, err, want)
	}
}

func TestTestResultReadsLikeAResult(t *testing.T) {
	t.Parallel()
	result := Result{
		Outcome: OutcomeSignaled, ExitCode: 139, Signal: "SIGSEGV", TimedOut: true, Message: "killed by SIGSEGV",
		Stdout: NewStream([]byte("out"), nil, 3), Stderr: NewStream([]byte("err"), nil, 3), Duration: Seconds(time.Second),
		CPUUser: Seconds(time.Minute), CPUSystem: Seconds(time.Hour), PeakMemory: 3, OOMKills: 4, PIDsDenied: 5,
	}
	fields := func(v any) (m map[string]any) {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &m))
		return m
	}
	all := fields(result)
	got := fields(NewTestResult("7", result))
	require.Equal(t, "7", got["id"])
	delete(got, "id")
	require.Len(t, got, 14)
	for name, value := range got {
		require.Equal(t, all[name], value, name)
	}
}
