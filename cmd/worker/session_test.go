package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestASessionKeepsWhatASandboxCanTakeAndGive(t *testing.T) {
	t.Parallel()
	c := config.Sessions{Quota: 1000, MaxFiles: 50}
	for name, test := range map[string]struct {
		maxima sandbox.Limits
		bytes  int64
		files  int
	}{
		"the configured quota":       {sandbox.Limits{InputBytes: 1001, FileBytes: 1001, FilesIn: 51, FilesOut: 51}, 1000, 50},
		"less can go into a sandbox": {sandbox.Limits{InputBytes: 999, FileBytes: 1001, FilesIn: 49, FilesOut: 51}, 999, 49},
		"less can come out of one":   {sandbox.Limits{InputBytes: 1001, FileBytes: 998, FilesIn: 51, FilesOut: 48}, 998, 48},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bytes, files := sessionQuota(c, test.maxima)
			require.Equal(t, test.bytes, bytes)
			require.Equal(t, test.files, files)
		})
	}
	bytes, files := sessionQuota(config.Default().Sessions, config.Default().Limits.Maxima.Sandbox())
	require.EqualValues(t, 64<<20, bytes, "by default the quota holds")
	require.Equal(t, 1000, files)
}
