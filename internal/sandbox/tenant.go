package sandbox

import "strings"

// MatchTenant reports whether a tenant is one that a pattern names: * in it stands for any characters, none and
// slashes included, and everything else for itself. The tenant of a job without one is "".
func MatchTenant(pattern, tenant string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	tenant, found := strings.CutPrefix(tenant, first)
	if !found || !more {
		return found && tenant == ""
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(tenant, part) // the first place leaves most to what follows
		if at < 0 {
			return false
		}
		tenant = tenant[at+len(part):]
	}
	return strings.HasSuffix(tenant, parts[len(parts)-1])
}

// MatchAnyTenant reports whether one of the patterns names a tenant.
func MatchAnyTenant(patterns []string, tenant string) bool {
	for _, pattern := range patterns {
		if MatchTenant(pattern, tenant) {
			return true
		}
	}
	return false
}
