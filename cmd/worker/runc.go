package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// runcFix is a set of holes through which a container reaches its host, and the releases
// that closed them, one for each line of releases, oldest first.
type runcFix struct {
	cves  string
	fixed []string
}

var runcFixes = []runcFix{
	{"CVE-2024-21626", []string{"1.1.12"}},
	{"CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881", []string{"1.2.8", "1.3.3", "1.4.0-rc.3"}},
}

// missingRuncFixes says which fixes a version of runc came too early for. What is not
// a version's number gives nothing.
func missingRuncFixes(version string) (missing []string) {
	have, ok := parseVersion(version)
	if !ok {
		return nil
	}
	for _, fix := range runcFixes {
		if !fix.isIn(have) {
			missing = append(missing, fmt.Sprintf("%s (fixed in %s)", fix.cves, strings.Join(fix.fixed, ", ")))
		}
	}
	return missing
}

// isIn tells whether a version is at least the fixed release of its own line of
// releases, or of a later line than all that were fixed.
func (f runcFix) isIn(have releaseVersion) bool {
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
