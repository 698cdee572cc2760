package dockerproxy

import (
	"context"
	"encoding/json"
	"net/netip"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// Egress is how workers give some jobs a network, as their own settings must have it, too.
type Egress struct {
	// Program is egress-proxy. A gate runs nothing else.
	Program []byte
	// Rules are all that gates let anybody reach, whatever a worker says.
	Rules []egress.Rule
	// Outgoing, Subnet and DNS are those of docker.Egress.
	Outgoing string
	Subnet   netip.Prefix
	DNS      string
}

var errNoRules = refuse("jobs have no network here (network.rules)")

// gate is the container of a proxy that docker.GateConfig makes of what a worker can choose.
func (p *Proxy) gate(asked container.CreateRequest) (*container.Config, *container.HostConfig, error) {
	e := p.options.Egress
	if e == nil {
		return nil, nil, errNoRules
	}
	expires, _ := strconv.ParseInt(asked.Labels[labels.Expires], 10, 64)
	config, host := docker.GateConfig(docker.GateSpec{
		ImageID: asked.Image, Outgoing: e.Outgoing, DNS: e.DNS, Seccomp: p.options.Seccomp,
		CgroupV2: asked.HostConfig.CgroupnsMode == container.CgroupnsModePrivate,
		Worker:   asked.Labels[labels.Owner], Installation: asked.Labels[labels.Installation], Expires: time.Unix(expires, 0),
	})
	return config, host, nil
}

// createLane makes a network that leads nowhere, of addresses that are for such networks.
func (p *Proxy) createLane(_ context.Context, c *call) error {
	if p.options.Egress == nil {
		return errNoRules
	}
	var asked network.CreateRequest
	if err := decode(c.body, &asked); err != nil {
		return err
	}
	installation := asked.Labels[labels.Installation]
	if !docker.IsLaneName(asked.Name) || !p.isOurs(installation) {
		return refuse("the network %.80q is not one of sandloop's", asked.Name)
	}
	var block netip.Prefix
	if asked.IPAM != nil && len(asked.IPAM.Config) > 0 {
		block, _ = netip.ParsePrefix(asked.IPAM.Config[0].Subnet)
	}
	if !docker.IsLaneBlock(block, p.options.Egress.Subnet) {
		return refuse("the addresses are not eight of %s (network.subnet)", p.options.Egress.Subnet)
	}
	wanted := network.CreateRequest{Name: asked.Name, CreateOptions: docker.LaneConfig(block, asked.Labels[labels.Owner], installation)}
	if err := same(network.CreateRequest{Name: asked.Name, CreateOptions: asked.CreateOptions}, wanted); err != nil {
		return err
	}
	// Daemons before API 1.44 make two of one name without it; clients for later ones do not send it.
	once := true
	wanted.CheckDuplicate = &once    //nolint:staticcheck // deprecated for later daemons, which take no notice
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return nil
}

// connectGate puts a gate of ours into a lane of ours, at the address that it has there.
func (p *Proxy) connectGate(ctx context.Context, c *call) error {
	if p.options.Egress == nil {
		return errNoRules
	}
	var asked network.ConnectOptions
	if err := decode(c.body, &asked); err != nil {
		return err
	}
	proxy, err := p.lane(ctx, c)
	if err != nil {
		return err
	}
	wanted := network.ConnectOptions{Container: asked.Container, EndpointConfig: docker.GateEndpoint(proxy)}
	if err := same(asked, wanted); err != nil {
		return err
	}
	if wanted.Container, _, err = p.ownID(ctx, asked.Container, labels.RoleEgress); err != nil {
		return err
	}
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return nil
}

// disconnectGate takes a gate of ours out of a lane of ours.
func (p *Proxy) disconnectGate(ctx context.Context, c *call) error {
	if p.options.Egress == nil {
		return errNoRules
	}
	var asked network.DisconnectOptions
	if err := decode(c.body, &asked); err != nil {
		return err
	}
	if _, err := p.lane(ctx, c); err != nil {
		return err
	}
	wanted := network.DisconnectOptions{Container: asked.Container, Force: true}
	if err := same(asked, wanted); err != nil {
		return err
	}
	var err error
	if wanted.Container, _, err = p.ownID(ctx, asked.Container, labels.RoleEgress); err != nil {
		return err
	}
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return nil
}

// lane makes sure that the network of a call is a lane of ours, names it by its id, and returns the address that a gate has in it.
func (p *Proxy) lane(ctx context.Context, c *call) (netip.Addr, error) {
	found, err := p.ownNetwork(ctx, c.names[0])
	if err != nil {
		return netip.Addr{}, err
	}
	// A name may be another's a moment later.
	c.path = "/networks/" + found.ID + c.path[len("/networks/"+c.names[0]):]
	return gateIn(found)
}

// hasLane makes sure that the lane of a sandbox is one of the same installation, and that what it takes for the gate is the gate.
func (p *Proxy) hasLane(ctx context.Context, spec docker.ContainerSpec) error {
	found, err := p.ownNetwork(ctx, spec.Lane.Network)
	if err != nil {
		return err
	}
	if found.Labels[labels.Installation] != spec.Installation {
		return refuse("the network is that of another installation")
	}
	proxy, err := gateIn(found)
	if err == nil && proxy != spec.Lane.Proxy {
		err = refuse("HostConfig.Dns is %s: want %s", spec.Lane.Proxy, proxy)
	}
	return err
}

// gateIn is the address of the gate in a lane.
func gateIn(lane network.Inspect) (netip.Addr, error) {
	if len(lane.IPAM.Config) == 1 && lane.Internal {
		if block, err := netip.ParsePrefix(lane.IPAM.Config[0].Subnet); err == nil {
			return docker.GateAddress(block), nil
		}
	}
	return netip.Addr{}, refuse("the network is not internal, or has no addresses of its own")
}

// ownNetwork is a lane by its labels.
func (p *Proxy) ownNetwork(ctx context.Context, name string) (network.Inspect, error) {
	found, err := p.options.Docker.NetworkInspect(ctx, name, network.InspectOptions{})
	if err != nil {
		return found, err
	}
	if !p.isOurs(found.Labels[labels.Installation]) || found.Labels[labels.Role] != labels.RoleLane {
		return found, refuse("the network is none of sandloop's")
	}
	return found, nil
}

func (p *Proxy) removeLane(ctx context.Context, c *call) error {
	c.body = nil
	found, err := p.ownNetwork(ctx, c.names[0])
	if err != nil {
		return err
	}
	c.path = "/networks/" + found.ID // a name may be another's a moment later
	return nil
}
