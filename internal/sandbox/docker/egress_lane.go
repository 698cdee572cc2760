package docker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	// laneBits is the prefix length of a lane: the network's, the gateway's, the proxy's and the sandbox's address are of its eight.
	laneBits = 29
	// lanePrefix is what the names of lanes begin with; twelve hexadecimal digits follow.
	lanePrefix = "sandloop-lane-"
	// laneTries is how often a free block of addresses is looked for.
	laneTries = 20
)

// Lane is the network of one sandbox, in which there is nothing else but the proxy.
type Lane struct {
	// Network is its name, and Proxy the proxy's address in it.
	Network string
	Proxy   netip.Addr
}

// lane is a Lane that exists.
type lane struct {
	Lane
	gate *gate
}

// newLane makes a network with the proxy in it. What a failure leaves behind is removed.
func (r *Runner) newLane(ctx context.Context, imageID string) (*lane, error) {
	g, err := r.currentGate(ctx, imageID)
	if err != nil {
		return nil, err
	}
	l := &lane{gate: g}
	for try := 0; ; try++ {
		block := randomBlock(r.options.Egress.Subnet)
		if l.Lane, err = r.createLane(ctx, block); err == nil {
			break
		}
		// Daemons forbid, or call invalid, a block of which another network has addresses: that of another worker's sandbox, say.
		if try == laneTries || (!errdefs.IsPermissionDenied(err) && !errdefs.IsInvalidArgument(err)) {
			return nil, err
		}
	}
	if err := r.docker.NetworkConnect(ctx, l.Network, g.id, GateEndpoint(l.Proxy)); err != nil {
		return nil, errors.Join(fmt.Errorf("connect the proxy to network %s: %w", l.Network, err), r.removeLane(ctx, l))
	}
	return l, nil
}

// randomBlock is one of the blocks that a lane can have.
func randomBlock(of netip.Prefix) netip.Prefix {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	base := of.Masked().Addr().As4()
	size := uint32(1) << (laneBits - of.Bits())
	at := binary.BigEndian.Uint32(base[:]) + binary.BigEndian.Uint32(random[:])%size<<(32-laneBits)
	binary.BigEndian.PutUint32(base[:], at)
	return netip.PrefixFrom(netip.AddrFrom4(base), laneBits)
}

// createLane creates the network. As a container's creation, it is not canceled with ctx.
func (r *Runner) createLane(ctx context.Context, block netip.Prefix) (Lane, error) {
	if ctx.Err() != nil {
		return Lane{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	l := Lane{Network: lanePrefix + hex.EncodeToString(random[:]), Proxy: GateAddress(block)}
	options := LaneConfig(block, r.options.Worker, r.options.Installation)
	if _, err := r.docker.NetworkCreate(ctx, l.Network, options); err != nil {
		err = fmt.Errorf("create network %s of %s: %w", l.Network, block, err)
		if client.IsErrConnectionFailed(err) {
			return Lane{}, err
		}
		return Lane{}, errors.Join(err, r.removeNetwork(ctx, l.Network))
	}
	return l, nil
}

// LaneConfig makes the configuration of a lane. It is pure.
func LaneConfig(block netip.Prefix, worker, installation string) network.CreateOptions {
	return network.CreateOptions{
		Driver: "bridge",
		// No way out, to the host's services, to Redis or to other sandboxes.
		Internal: true,
		Options: map[string]string{
			// The host has an address on every other bridge, and with it all services that listen everywhere.
			"com.docker.network.bridge.inhibit_ipv4": "true",
		},
		IPAM: &network.IPAM{Driver: "default", Config: []network.IPAMConfig{{
			Subnet: block.String(), Gateway: block.Addr().Next().String(),
		}}},
		Labels: map[string]string{labels.Installation: installation, labels.Owner: worker, labels.Role: labels.RoleLane},
	}
}

// removeLane takes a network away whose sandbox is gone. That it is gone is a success.
func (r *Runner) removeLane(ctx context.Context, l *lane) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := r.docker.NetworkDisconnect(ctx, l.Network, l.gate.id, true); err != nil && client.IsErrConnectionFailed(err) {
		return fmt.Errorf("disconnect the proxy from network %s: %w", l.Network, err)
	}
	return r.removeNetwork(ctx, l.Network)
}

// removeNetwork tries until the network is gone: the endpoint of a container can outlive it by a moment.
func (r *Runner) removeNetwork(ctx context.Context, name string) error {
	for {
		err := r.docker.NetworkRemove(ctx, name)
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		if client.IsErrConnectionFailed(err) {
			return fmt.Errorf("remove network %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove network %s: %w", name, err)
		case <-time.After(removeRetry):
		}
	}
}

// leaveLane removes the lane of a container that is gone, if it had one.
func (r *Runner) leaveLane(ctx context.Context, b *box) error {
	if b.lane == nil {
		return nil
	}
	return r.removeLane(ctx, b.lane)
}

// runThrough is run with the proxy open to the program, if through is not nil.
func (t *task) runThrough(ctx context.Context, through *pass) (sandbox.Result, error) {
	if through == nil {
		return t.run(ctx)
	}
	b, r := t.box, t.runner
	job := through.job(t.program)
	if _, err := b.lane.gate.order(ctx, egress.Order{At: b.lane.Proxy, Open: &job}); err != nil {
		r.removeSoon(ctx, b)
		if t.waited { // the proxy that it was connected to is gone
			r.options.Log.Debug("waiting container has no proxy", "container", b.id, "err", err)
			return sandbox.Result{}, errStale
		}
		return sandbox.Result{}, err
	}
	result, err := t.run(ctx)
	if result.Network = r.expel(ctx, b); result.Network != nil {
		through.sent += result.Network.Sent
		through.received += result.Network.Received
	}
	return result, err
}

// expel ends a job's use of the proxy and returns what it was. A proxy that is gone has cut all, and told of it what it could.
func (r *Runner) expel(ctx context.Context, b *box) *sandbox.NetworkUse {
	n, err := b.lane.gate.order(ctx, egress.Order{At: b.lane.Proxy})
	if err != nil {
		r.options.Log.Warn("what a job did with its network is not known", "container", b.id, "err", err)
		return nil
	}
	return n.Closed
}
