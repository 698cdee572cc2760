package egress

import (
	"fmt"
	"net/netip"
	"slices"
)

// special are blocks of addresses that no program reaches, each with what it is called. The first that holds an address names it.
// Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries; metadata and host services from the clouds' documentation.
var special = []struct {
	block netip.Prefix
	name  string
}{
	{netip.MustParsePrefix("169.254.169.254/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("169.254.170.2/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("100.100.100.200/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("192.0.0.192/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud metadata address"}, // it lies among public ones
	{netip.MustParsePrefix("fd00:ec2::/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "a cloud metadata address"},
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified address"},
	{netip.MustParsePrefix("::/128"), "an unspecified address"},
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address"},
	{netip.MustParsePrefix("::1/128"), "a loopback address"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // of a carrier's NAT
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), reserved},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("198.18.0.0/15"), reserved}, // benchmarks, and the networks of sandboxes
	{netip.MustParsePrefix("198.51.100.0/24"), reserved},
	{netip.MustParsePrefix("203.0.113.0/24"), reserved},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},
	{netip.MustParsePrefix("64:ff9b::/96"), embedded},
	{netip.MustParsePrefix("64:ff9b:1::/48"), embedded},
	{netip.MustParsePrefix("2002::/16"), embedded},
	{netip.MustParsePrefix("2001::/32"), embedded},
	{netip.MustParsePrefix("::/96"), embedded},
	{netip.MustParsePrefix("2001::/23"), reserved},
	{netip.MustParsePrefix("2001:db8::/32"), reserved},
	{netip.MustParsePrefix("3fff::/20"), reserved},
}

const (
	private  = "a private address"
	reserved = "a reserved address"
	// embedded is what NAT64, 6to4 and Teredo make of an IPv4 address: where it leads depends on somebody else's gateway.
	embedded = "an IPv4 address inside of an IPv6 one"
)

// global are the IPv6 addresses that are given out to the public.
var global = netip.MustParsePrefix("2000::/3")

// classify tells what an address is called that no program reaches, and "" for a public one.
func classify(addr netip.Addr) string {
	if addr.Is4In6() || !addr.IsValid() || addr.Zone() != "" {
		return "an address in a strange form" // Unmap comes before
	}
	for _, s := range special {
		if s.block.Contains(addr) {
			return s.name
		}
	}
	if addr.Is6() && !global.Contains(addr) {
		return reserved
	}
	return ""
}

// checkAddress refuses an address that a program with this rule must not reach.
func (r Rule) checkAddress(addr netip.Addr) error {
	addr = addr.Unmap()
	name := classify(addr)
	if name == "" || (name == private && slices.ContainsFunc(r.Private, func(p netip.Prefix) bool { return p.Contains(addr) })) {
		return nil
	}
	return fmt.Errorf("it has the address %s, %s", addr, name)
}

// checkPrivate tells whether a block can be opened by a rule: all of it must be private.
func checkPrivate(block netip.Prefix) error {
	for _, s := range special {
		if s.name == private && s.block.Bits() <= block.Bits() && s.block.Contains(block.Addr()) && block == block.Masked() {
			return nil
		}
	}
	return fmt.Errorf("%s is not a block of private addresses", block)
}
