package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckRedis(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args     []string
		warnings []string
		err      string
	}{
		"as it should be":         {args: []string{"--appendonly", "yes"}},
		"without a log":           {warnings: []string{"appendonly is off"}},
		"that would evict":        {args: []string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"}, warnings: []string{"want noeviction"}},
		"that evicts":             {args: []string{"--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"}, err: "maxmemory-policy is volatile-ttl: want noeviction"},
		"that forbids its config": {args: []string{"--appendonly", "yes", "--rename-command", "CONFIG", ""}},
		"that forbids INFO":       {args: []string{"--rename-command", "INFO", ""}, warnings: []string{"does not tell about itself"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, test.args...)
			warnings, err := CheckRedis(b.ctx, b.rdb)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, warnings, len(test.warnings), strings.Join(warnings, "; "))
			for i, want := range test.warnings {
				require.Contains(t, warnings[i], want)
			}
		})
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"6.2.0": "", "7.0.15": "", "10.1": "", "6.0.16": "redis is 6.0.16: want at least 6.2", "5.9": "want at least 6.2", "x.y": "not one", "7": "not one",
	} {
		err := checkVersion(version)
		if want == "" {
			require.NoError(t, err, version)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestCheckRedisOfAServerWithinTheProcess(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	warnings, err := CheckRedis(b.ctx, b.rdb)
	require.NoError(t, err)
	require.NotEmpty(t, warnings)
}
