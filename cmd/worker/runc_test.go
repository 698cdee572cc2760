package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhichReleasesOfRuncLackWhichFixes(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{
		"1.0.0-rc93": 2, "1.0.3": 2, "1.1.5+ds1": 2, "1.1.11": 2, // both
		"1.1.12": 1, "1.1.15": 1, "1.2.0": 1, "1.2.7": 1, "1.3.0": 1, "1.3.2": 1, // those of 2025
		"1.4.0-rc.1": 1, "1.4.0-rc.2": 1, "1.4.0-rc2": 1, "1.4.0~rc2+ds1": 1,
		"1.2.8": 0, "1.2.9": 0, "v1.3.3": 0, "1.3.3+ds1-2": 0, "1.4.0-rc.3": 0, "1.4.0": 0, "1.5.0-rc.1": 0, "2.0.0": 0,
		"": 0, "unknown": 0, "N/A": 0, "1.1": 0,
	} {
		require.Len(t, missingRuncFixes(version), want, version)
	}
	require.Equal(t, []string{"CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881 (fixed in 1.2.8, 1.3.3, 1.4.0-rc.3)"}, missingRuncFixes("1.3.0"))
}
