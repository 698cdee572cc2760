package sandbox

import (
	"fmt"
	"path"
	"strings"
)

// CheckPattern tells whether MatchPattern can use a pattern: a clean relative path
// whose elements are path.Match patterns or **.
func CheckPattern(pattern string) error {
	if err := checkPath(pattern); err != nil {
		return err
	}
	for _, element := range strings.Split(pattern, "/") {
		if _, err := path.Match(element, ""); err != nil {
			return fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
	}
	return nil
}

// MatchPattern reports whether name, a clean relative path, matches the pattern. An element
// ** stands for any number of directories, none included; the others are as in path.Match.
func MatchPattern(pattern, name string) bool {
	return matchElements(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matchElements keeps, for each prefix of the pattern, which prefixes of the name match it,
// so that many ** cost pattern times name and not an exponential number of tries.
func matchElements(pattern, name []string) bool {
	matched := make([]bool, len(name)+1)
	matched[0] = true
	for _, element := range pattern {
		next := make([]bool, len(name)+1)
		for i := range next {
			if element == "**" {
				next[i] = matched[i] || (i > 0 && next[i-1])
			} else if i > 0 && matched[i-1] {
				next[i], _ = path.Match(element, name[i-1])
			}
		}
		matched = next
	}
	return matched[len(name)]
}
