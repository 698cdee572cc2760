package problem

import "strings"

// maxBraces bounds how many patterns one pattern with braces can stand for.
const maxBraces = 256

// matchesPathOrParent tells whether name or one of the folders that it lies in matches the pattern.
func matchesPathOrParent(pattern, name string) bool {
	for {
		if name != "" && matchesPath(pattern, name) {
			return true
		}
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return false
		}
		name = name[:slash]
	}
}

// matchesPath tells whether name matches a pattern of submissions.yaml: * stands for any text without a
// slash and {a,b} for either; every other byte stands for itself.
func matchesPath(pattern, name string) bool {
	for _, plain := range expandBraces(strings.TrimSuffix(pattern, "/")) {
		if matchesStars(strings.Split(plain, "/"), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

func matchesStars(patterns, names []string) bool {
	if len(patterns) != len(names) {
		return false
	}
	for i, pattern := range patterns {
		if !matchesElement(pattern, names[i]) {
			return false
		}
	}
	return true
}

// matchesElement takes each star's shortest match, which is enough when there is nothing but stars.
func matchesElement(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// expandBraces writes out {a,b}; braces may be nested, and one without its partner stands for itself.
func expandBraces(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	depth, from := 0, open+1
	var choices []string
	for i := open; i < len(pattern); i++ {
		switch pattern[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 1 && pattern[i] == ',' {
			choices = append(choices, pattern[from:i])
			from = i + 1
		}
		if depth > 0 {
			continue
		}
		choices = append(choices, pattern[from:i])
		return product(pattern[:open], choices, expandBraces(pattern[i+1:]))
	}
	return []string{pattern}
}

func product(prefix string, choices, tails []string) []string {
	var all []string
	for _, choice := range choices {
		for _, middle := range expandBraces(choice) {
			for _, tail := range tails {
				if len(all) == maxBraces {
					return all
				}
				all = append(all, prefix+middle+tail)
			}
		}
	}
	return all
}
