package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// dialTimeout bounds the resolution of a name and the connection to one address of it.
const dialTimeout = 15 * time.Second

// Network is how the proxy reaches the world. Nil fields are the system's resolver and network.
type Network struct {
	// Resolve returns the addresses of a name.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

func (n Network) withDefaults() Network {
	if n.Resolve == nil {
		n.Resolve = ResolveAt("")
	}
	if n.Dial == nil {
		n.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
		}
	}
	return n
}

// ResolveAt makes a Resolve that asks one server, host:port, or those of the system if it is empty.
func ResolveAt(server string) func(context.Context, string) ([]netip.Addr, error) {
	resolver := &net.Resolver{PreferGo: true}
	if server != "" {
		resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server)
		}
	}
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		return resolver.LookupNetIP(ctx, "ip", name+".") // the dot, so that no search domain is tried
	}
}

// refusedError means that a rule forbids a connection; other errors mean that it was not possible.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// connect resolves a name, checks every address that it has and connects to the first that answers. That one of them is
// forbidden forbids all: who answers so is not to be trusted with the next question. The very address that was checked is dialed,
// so a name that changes its answers gains nothing.
func (n Network) connect(ctx context.Context, rule Rule, t target) (net.Conn, error) {
	resolving, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addrs, err := n.Resolve(resolving, t.host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", t.host, withoutServer(err))
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolve %s: it has no address", t.host)
	}
	for _, addr := range addrs {
		if err := rule.checkAddress(addr); err != nil {
			return nil, &refusedError{fmt.Errorf("%s is not reached: %w", t.host, err)}
		}
	}
	var errs []error
	for _, addr := range addrs {
		conn, err := n.dial(ctx, netip.AddrPortFrom(addr.Unmap(), uint16(t.port))) //nolint:gosec // newTarget bounds it
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("connect to %s: %w", t, errors.Join(errs...))
}

func (n Network) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return n.Dial(ctx, to)
}

// withoutServer takes out of an error which DNS server was asked: it is none of a program's business.
func withoutServer(err error) error {
	var failed *net.DNSError
	if errors.As(err, &failed) {
		return errors.New(failed.Err)
	}
	return err
}
