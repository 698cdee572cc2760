package config

import (
	"fmt"
	"strings"
)

// RuntimeRule gives the jobs of some tenants a container runtime.
type RuntimeRule struct {
	// Tenants are patterns, see sandbox.MatchTenant; an empty one is the jobs without a tenant.
	Tenants []string `mapstructure:"tenants"`
	// Runtime is an OCI runtime that the Docker daemon knows.
	Runtime string `mapstructure:"runtime"`
}

func (s Sandbox) validate(p *problems) {
	if s.Runtime != "" {
		p.word("sandbox.runtime", s.Runtime)
	}
	for i, rule := range s.Runtimes {
		key := fmt.Sprintf("sandbox.runtimes[%d]", i)
		p.word(key+".runtime", rule.Runtime)
		p.tenants(key+".tenants", rule.Tenants)
	}
	within(p, "sandbox.pool_size", s.PoolSize, 0, 1000)
}

// maxTenant is the length of a tenant's name in bytes that a job can have.
const maxTenant = 128

// tenants refuses a list that names nobody, which is as likely a slip as a wish.
func (p *problems) tenants(key string, patterns []string) {
	if len(patterns) == 0 {
		p.add(key, "[]", `at least one name or pattern, such as "acme", "guest-*", "*" for all or "" for jobs without a tenant`)
	}
	for i, pattern := range patterns {
		if len(strings.ReplaceAll(pattern, "*", "")) > maxTenant {
			p.add(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%q", pattern), fmt.Sprintf("at most %d bytes beside *", maxTenant))
		}
	}
}

// RuntimeKeys are the runtimes that the settings name, by the key of each.
func (s Sandbox) RuntimeKeys() map[string]string {
	keys := map[string]string{}
	if s.Runtime != "" {
		keys["sandbox.runtime"] = s.Runtime
	}
	for i, rule := range s.Runtimes {
		keys[fmt.Sprintf("sandbox.runtimes[%d].runtime", i)] = rule.Runtime
	}
	return keys
}
