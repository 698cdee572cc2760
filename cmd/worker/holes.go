package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// holeFix is a set of holes through which a container reaches its host, and the releases
// that closed them, one for each line of releases, oldest first.
type holeFix struct {
	cves string
	// since is the first release that has the holes; empty is all.
	since string
	fixed []string
}

// The components that a sandbox's isolation rests on. The list is short, since a warning that may be wrong is soon ignored.
const (
	runc       = "runc"
	containerd = "containerd"
	linux      = "Linux"
)

var holeFixes = map[string][]holeFix{
	runc: {
		{cves: "CVE-2024-21626", fixed: []string{"1.1.12"}},
		{cves: "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881", fixed: []string{"1.2.8", "1.3.3", "1.4.0-rc.3"}},
	},
	containerd: {
		// The shim's socket is within reach of containers in the host's network (GHSA-36xw-fx78-c5r4).
		{cves: "CVE-2020-15257", fixed: []string{"1.3.9", "1.4.3"}},
	},
	linux: {
		// Dirty COW and Dirty Pipe: read-only files of images, and of the host, can be written. Neither wants a capability or a call that
		// any profile refuses. Which releases have the fixes was told by their finders (dirtycow.ninja, dirtypipe.cm4all.com).
		{cves: "CVE-2016-5195", fixed: []string{"4.4.26", "4.7.9", "4.8.3"}},
		{cves: "CVE-2022-0847", since: "5.8.0", fixed: []string{"5.10.102", "5.15.25", "5.16.11"}},
	},
}

// missingFixes says which fixes a version of a component came too early for. What is not
// a version's number gives nothing.
func missingFixes(component, version string) (missing []string) {
	have, ok := parseVersion(version)
	if !ok || (component == linux && isPackaged(version)) {
		return nil
	}
	for _, fix := range holeFixes[component] {
		if !fix.isIn(have) {
			missing = append(missing, fmt.Sprintf("%s (fixed in %s)", fix.cves, strings.Join(fix.fixed, ", ")))
		}
	}
	return missing
}

// packagedKernel is a release of Linux as distributions number it: 6.1.0-42-amd64 or 5.14.0-427.el9 say nothing of the stable release that is in it.
var packagedKernel = regexp.MustCompile(`^\d+\.\d+\.0-`)

func isPackaged(release string) bool { return packagedKernel.MatchString(release) }

// isIn tells whether a version is older than the holes, or at least the fixed release of its own line of
// releases, or of a later line than all that were fixed.
func (f holeFix) isIn(have releaseVersion) bool {
	if since, ok := parseVersion(f.since); ok && have.before(since) {
		return true
	}
	for _, text := range f.fixed {
		fixed, _ := parseVersion(text)
		if have.line() == fixed.line() {
			return !have.before(fixed)
		}
	}
	last, _ := parseVersion(f.fixed[len(f.fixed)-1])
	return !have.before(last)
}

// releaseVersion is major, minor, patch and the number of a release candidate; a
// release itself has the highest.
type releaseVersion [4]int

const noCandidate = 1 << 30

var versionPattern = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(?:[-~]rc\.?(\d+))?`)

func parseVersion(text string) (releaseVersion, bool) {
	match := versionPattern.FindStringSubmatch(text)
	if match == nil {
		return releaseVersion{}, false
	}
	v := releaseVersion{3: noCandidate}
	for i, digits := range match[1:] {
		if digits == "" {
			continue
		}
		number, err := strconv.Atoi(digits)
		if err != nil {
			return releaseVersion{}, false
		}
		v[i] = number
	}
	return v, true
}

func (v releaseVersion) line() [2]int { return [2]int{v[0], v[1]} }

func (v releaseVersion) before(other releaseVersion) bool {
	for i := range v {
		if v[i] != other[i] {
			return v[i] < other[i]
		}
	}
	return false
}
