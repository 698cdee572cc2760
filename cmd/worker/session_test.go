package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestASessionKeepsWhatASandboxCanTakeAndGive(t *testing.T) {
	t.Parallel()
	c := config.Sessions{Quota: 1500, MaxFiles: 50}
	for name, test := range map[string]struct {
		maxima sandbox.Limits
		bytes  int64
		files  int
	}{
		"the configured quota":       {sandbox.Limits{InputBytes: 1600, FileBytes: 1600, FilesIn: 51, FilesOut: 51}, 1500, 50},
		"less can go into a sandbox": {sandbox.Limits{InputBytes: 1584, FileBytes: 1600, FilesIn: 50, FilesOut: 51}, 1485, 49},
		"less can come out of one":   {sandbox.Limits{InputBytes: 1600, FileBytes: 160, FilesIn: 51, FilesOut: 48}, 150, 47},
		"next to nothing":            {sandbox.Limits{InputBytes: 1, FileBytes: 1, FilesIn: 1, FilesOut: 1}, 1, 1},
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
