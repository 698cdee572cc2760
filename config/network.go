package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Network says which jobs reach what through the proxy. Without rules none does.
type Network struct {
	// Rules say who may reach what; the first rule that names the tenant counts.
	Rules []NetworkRule `mapstructure:"rules"`
	// ProxyPath is the egress-proxy program; empty is the one beside the worker's executable.
	ProxyPath string `mapstructure:"proxy_path"`
	// Outgoing is the Docker network through which the proxy reaches the world.
	Outgoing string `mapstructure:"outgoing"`
	// Subnet is the block of IPv4 addresses of which each sandbox with a network takes eight.
	Subnet string `mapstructure:"subnet"`
	// DNS is the server, host:port, that the proxy asks; empty are those that Docker gives it.
	DNS string `mapstructure:"dns"`
}

// NetworkRule is what the jobs of some tenants may reach. What is 0 or not set has the default of DefaultNetworkRule.
type NetworkRule struct {
	// Tenants are patterns, see sandbox.MatchTenant; an empty one is the jobs without a tenant.
	Tenants []string `mapstructure:"tenants"`
	// Domains are names, *.name for every name below one, or * for every name.
	Domains []string `mapstructure:"domains"`
	// Ports are those that may be connected to.
	Ports []int `mapstructure:"ports"`
	// MaxConnections is how many a job may have open at a time.
	MaxConnections int `mapstructure:"max_connections"`
	// MaxBytes is how much a job may send, and how much it may receive, in all.
	MaxBytes Size `mapstructure:"max_bytes"`
	// Timeout bounds each connection.
	Timeout time.Duration `mapstructure:"timeout"`
	// AllowPrivate are blocks of private addresses that the names may have, such as that of a mirror.
	AllowPrivate []string `mapstructure:"allow_private"`
}

// DefaultNetworkRule holds what a rule has that does not say otherwise.
func DefaultNetworkRule() NetworkRule {
	return NetworkRule{Ports: []int{443}, MaxConnections: 16, MaxBytes: Size(256 * sandbox.MiB), Timeout: 5 * time.Minute}
}

// Egress is a rule in the proxy's terms, with the defaults filled in, for the rule with a number.
func (n NetworkRule) Egress(number int) (egress.Rule, error) {
	defaults := DefaultNetworkRule()
	rule := egress.Rule{
		Name: networkKey(number), Domains: n.Domains, Ports: n.Ports, MaxConnections: n.MaxConnections, MaxBytes: int64(n.MaxBytes), Timeout: n.Timeout,
	}
	if len(rule.Ports) == 0 {
		rule.Ports = defaults.Ports
	}
	if rule.MaxConnections == 0 {
		rule.MaxConnections = defaults.MaxConnections
	}
	if rule.MaxBytes == 0 {
		rule.MaxBytes = int64(defaults.MaxBytes)
	}
	if rule.Timeout == 0 {
		rule.Timeout = defaults.Timeout
	}
	var errs []error
	for i, text := range n.AllowPrivate {
		block, err := netip.ParsePrefix(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("allow_private[%d]: %q is not allowed: want a block such as 10.1.2.0/24", i, text))
			continue
		}
		rule.Private = append(rule.Private, block)
	}
	if errs == nil {
		errs = append(errs, rule.Check())
	}
	return rule, errors.Join(errs...)
}

func networkKey(number int) string { return fmt.Sprintf("network.rules[%d]", number) }

func (n Network) validate(p *problems, s Sandbox) {
	for i, rule := range n.Rules {
		key := networkKey(i)
		p.tenants(key+".tenants", rule.Tenants)
		if _, err := rule.Egress(i); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				p.errs = append(p.errs, fmt.Errorf("%s.%s", key, line))
			}
		}
	}
	if len(n.Rules) > 0 && s.AllowNetwork {
		p.add("sandbox.allow_network", true, "false where network.rules has rules: it gives every job Docker's bridge, whatever they say")
	}
	p.word("network.outgoing", n.Outgoing)
	if n.Outgoing == "host" || n.Outgoing == "none" {
		p.add("network.outgoing", n.Outgoing, "a network of the Docker daemon other than host and none")
	}
	if block, err := netip.ParsePrefix(n.Subnet); err != nil || !block.Addr().Is4() || block != block.Masked() || block.Bits() > 29 {
		p.add("network.subnet", fmt.Sprintf("%q", n.Subnet), "a block of IPv4 addresses of /29 or more, such as 198.18.0.0/15")
	}
	if host, port, err := net.SplitHostPort(n.DNS); n.DNS != "" && (err != nil || host == "" || port == "") {
		p.add("network.dns", fmt.Sprintf("%q", n.DNS), "host:port, such as 10.0.0.53:53")
	}
}
