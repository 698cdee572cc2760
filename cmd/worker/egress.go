package main

import (
	"fmt"
	"net/netip"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// egressOptions say who reaches what through the proxy; nil is that nobody does.
func egressOptions(c config.Network) (*docker.Egress, error) {
	if len(c.Rules) == 0 {
		return nil, nil
	}
	path, err := findProgram("egress-proxy", c.ProxyPath, "network.proxy_path")
	if err != nil {
		return nil, err
	}
	subnet, err := netip.ParsePrefix(c.Subnet)
	if err != nil {
		return nil, fmt.Errorf("network.subnet: %w", err)
	}
	options := &docker.Egress{ProxyPath: path, Outgoing: c.Outgoing, Subnet: subnet, DNS: c.DNS}
	for i, configured := range c.Rules {
		rule, err := configured.Egress(i)
		if err != nil {
			return nil, err
		}
		options.Rules = append(options.Rules, docker.EgressRule{Tenants: configured.Tenants, Rule: rule})
	}
	return options, nil
}
