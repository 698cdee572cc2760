package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func parseLimits(t *testing.T, args ...string) (sandbox.Overrides, error) {
	t.Helper()
	var limits sandbox.Overrides
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	addLimitFlags(flags, &limits)
	return limits, flags.Parse(args)
}

func TestLimitFlagsSetWhatTheySayAndNothingElse(t *testing.T) {
	t.Parallel()
	limits, err := parseLimits(t, "-t", "2.5", "--cpu-time=1m", "--memory", "64MiB", "--cpus", "0.25", "--pids", "7")
	require.NoError(t, err)
	wall, cpu := sandbox.Seconds(2500*time.Millisecond), sandbox.Seconds(time.Minute)
	memory, cpus, pids := int64(67108864), 0.25, 7
	require.Equal(t, sandbox.Overrides{WallTime: &wall, CPUTime: &cpu, Memory: &memory, CPUs: &cpus, PIDs: &pids}, limits)
}

func TestABadLimitNamesFlagValueAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for flag, c := range map[string]struct {
		values []string
		want   string
	}{
		"--timeout":      {[]string{"0", "-1", "NaN", "Inf", "1e300", "2x", "", "0s", "-3s"}, "want a time above 0"},
		"--memory":       {[]string{"0", "-1", "x", "256QB", ""}, "want a size above 0"},
		"--cpus":         {[]string{"0", "-0.5", "NaN", "Inf", "two"}, "want a number above 0"},
		"--pids":         {[]string{"0", "-4", "2.5", "many", "99999999999999999999"}, "want a whole number above 0"},
		"--output-limit": {[]string{"0", "1.5.5"}, "want a size above 0"},
	} {
		for _, value := range c.values {
			t.Run(flag+"="+value, func(t *testing.T) {
				t.Parallel()
				_, err := parseLimits(t, flag+"="+value)
				require.ErrorContains(t, err, c.want)
				require.ErrorContains(t, err, flag)
				require.ErrorContains(t, err, fmt.Sprintf("%q", value))
			})
		}
	}
}

func TestARefusalSpeaksOfFlags(t *testing.T) {
	t.Parallel()
	memory, wall, pids := 64*sandbox.GiB, sandbox.Seconds(time.Hour), 5000
	_, err := sandbox.Overrides{Memory: &memory, WallTime: &wall, PIDs: &pids}.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	refused := refusal(err)
	require.Equal(t, "--memory: 64GiB is not allowed: want 32MiB to 4GiB\n"+
		"--pids: 5000 is not allowed: want 1 to 1024\n"+
		"--timeout: 1h0m0s is not allowed: want 10ms to 15m0s", refused.Error())
	require.Equal(t, exitUsage, exitCode(refused))

	refused = refusal(&sandbox.UnknownLanguageError{Name: "cobol", Known: []string{"c", "python"}})
	require.Equal(t, `--language: "cobol" is unknown: want one of c, python`, refused.Error())
	require.Equal(t, exitUsage, exitCode(refusal(errors.New("other"))))
}
