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
		require.Len(t, missingFixes(runc, version), want, version)
	}
	require.Equal(t, []string{"CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881 (fixed in 1.2.8, 1.3.3, 1.4.0-rc.3)"}, missingFixes(runc, "1.3.0"))
}

func TestWhichReleasesOfContainerdAndLinuxLackWhichFixes(t *testing.T) {
	t.Parallel()
	for component, versions := range map[string]map[string][]string{
		containerd: {
			"1.2.14": {"CVE-2020-15257"}, "v1.3.8": {"CVE-2020-15257"}, "1.4.2~ds1-1": {"CVE-2020-15257"},
			"1.3.9": nil, "1.3.10": nil, "1.4.3": nil, "1.6.20~ds1": nil, "v2.2.1": nil, "": nil, "05f951a3781f4f2c1911b05e61c160e9c30eaa8e": nil,
		},
		linux: {
			"4.4.25": {"CVE-2016-5195"}, "4.6.7": {"CVE-2016-5195"}, "4.8.2-custom": {"CVE-2016-5195"}, "3.18.140": {"CVE-2016-5195"},
			"4.4.26": nil, "4.7.9": nil, "4.8.3": nil, "4.19.300": nil, "5.7.19": nil, // before Dirty Pipe came
			"5.8.1": {"CVE-2022-0847"}, "5.9.16": {"CVE-2022-0847"}, "5.10.101": {"CVE-2022-0847"}, "5.15.24-microvm": {"CVE-2022-0847"},
			"5.16.10": {"CVE-2022-0847"}, "5.16.0": {"CVE-2022-0847"}, "5.13.19": {"CVE-2022-0847"},
			"5.10.102": nil, "5.10.230": nil, "5.15.25": nil, "5.16.11": nil, "5.17.0": nil, "6.18.44": nil,
			"5.15.0-91-generic": nil, "5.14.0-427.13.1.el9_4.x86_64": nil, "5.10.0-8-amd64": nil, // numbers of packages
			"5.15.90.1-microsoft-standard-WSL2": nil, "4.14.355-275.570.amzn2.x86_64": nil,
		},
		"nobody's": {"0.0.1": nil},
	} {
		for version, want := range versions {
			missing := missingFixes(component, version)
			require.Len(t, missing, len(want), "%s %s", component, version)
			for i, cve := range want {
				require.Contains(t, missing[i], cve)
			}
		}
	}
}
