package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhichPatternsNameWhichTenants(t *testing.T) {
	t.Parallel()
	for pattern, tenants := range map[string]map[string]bool{
		"":         {"": true, "a": false},
		"acme":     {"acme": true, "acme2": false, "acm": false, "": false, "Acme": false},
		"*":        {"": true, "acme": true, "acme/lab": true, "a*": true},
		"acme*":    {"acme": true, "acme/lab/7": true, "acm": false, "xacme": false},
		"*guest":   {"guest": true, "x/guest": true, "guests": false},
		"a*b*c":    {"abc": true, "a/b/c": true, "abbbcc": true, "acb": false, "ab": false, "bc": false},
		"aba*aba":  {"abaaba": true, "aba-aba": true, "aba": false, "ababa": false}, // start and end do not overlap
		"*ab*ab*":  {"abab": true, "xabyabz": true, "aba": false},
		"**":       {"": true, "x": true},
		"a?c":      {"a?c": true, "abc": false}, // only * is special
		"[a-z]":    {"[a-z]": true, "b": false},
		"é*":       {"é": true, "état": true, "etat": false},
		"*\\*":     {"x\\": true, "x\\y": true, "x": false},
		"team-*-x": {"team--x": true, "team-x": false, "team-a-x": true},
	} {
		for tenant, want := range tenants {
			require.Equal(t, want, MatchTenant(pattern, tenant), "%q %q", pattern, tenant)
		}
	}
	require.True(t, MatchAnyTenant([]string{"b", "a*"}, "ab"))
	require.False(t, MatchAnyTenant([]string{"b", "c"}, "ab"))
	require.False(t, MatchAnyTenant(nil, ""))
}
