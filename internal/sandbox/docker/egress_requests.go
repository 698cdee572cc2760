package docker

import (
	"net/netip"
	"regexp"

	"github.com/docker/docker/api/types/network"
)

// What internal/dockerproxy needs to tell a Runner's requests for networks from others, beside GateConfig and LaneConfig.

// EgressName is the name of the file with the proxy in [InitDir] of a gate.
const EgressName = egressName

// EgressRules is the name of the file of the proxy's rules beside it.
const EgressRules = egressRules

var laneName = regexp.MustCompile(`^` + lanePrefix + `[0-9a-f]{12}$`)

// IsLaneName tells whether a network of this name can be a lane.
func IsLaneName(name string) bool { return laneName.MatchString(name) }

// IsLaneBlock tells whether a lane can have these addresses where [Egress.Subnet] is subnet.
func IsLaneBlock(block, subnet netip.Prefix) bool {
	return block.Bits() == laneBits && block == block.Masked() && subnet.Contains(block.Addr())
}

// GateAddress is the proxy's address in a lane.
func GateAddress(block netip.Prefix) netip.Addr { return block.Addr().Next().Next() }

// GateEndpoint is how the proxy is connected to a lane in which it has the address.
func GateEndpoint(proxy netip.Addr) *network.EndpointSettings {
	return &network.EndpointSettings{IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: proxy.String()}}
}
