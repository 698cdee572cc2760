package docker

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Egress gives the programs of some tenants a network in which they reach nothing but a proxy of ours, and through that what
// their tenant's rule allows.
type Egress struct {
	// Rules say who may reach what; the first rule that names the tenant counts, and who is in none has no network.
	Rules []EgressRule
	// ProxyPath is a static egress-proxy binary for the daemon's architecture.
	ProxyPath string
	// Outgoing is the Docker network through which the proxy reaches the world; "" is Docker's default bridge.
	Outgoing string
	// Subnet is where the networks of sandboxes take their addresses from, eight each. No host may have an address in it.
	Subnet netip.Prefix
	// DNS is the server, host:port, at which the proxy resolves names; "" are those that Docker gives it.
	DNS string
}

// EgressRule is what the programs of the tenants may reach that its patterns name, see [sandbox.MatchTenant].
type EgressRule struct {
	Tenants []string
	egress.Rule
}

// ruleOf is the rule of a tenant, or nil.
func (e *Egress) ruleOf(tenant string) *egress.Rule {
	for i, rule := range e.Rules {
		if sandbox.MatchAnyTenant(rule.Tenants, tenant) {
			return &e.Rules[i].Rule
		}
	}
	return nil
}

// Bare are the rules without who has them.
func (e *Egress) Bare() []egress.Rule {
	rules := make([]egress.Rule, len(e.Rules))
	for i, rule := range e.Rules {
		rules[i] = rule.Rule
	}
	return rules
}

func (e *Egress) check() error {
	if e.ProxyPath == "" || !e.Subnet.Addr().Is4() || e.Subnet.Bits() > laneBits {
		return fmt.Errorf("docker options: Egress: want ProxyPath, and a Subnet of IPv4 with at least 8 addresses: %q and %s", e.ProxyPath, e.Subnet)
	}
	var errs []error
	for _, rule := range e.Rules {
		errs = append(errs, rule.Check())
	}
	return errors.Join(errs...)
}

// errNoNetwork refuses a network to everybody.
var errNoNetwork = errors.New("network: this installation gives programs no network (network.rules)")

// pass lets a program use the proxy.
type pass struct {
	rule  egress.Rule
	token string
	// sent and received are what it used in its containers so far, in bytes.
	sent, received int64
}

// passOf decides about a program that asks for a network. It returns nil for one that needs no proxy; the error refuses the program.
func (r *Runner) passOf(p sandbox.Program) (*pass, error) {
	e := r.options.Egress
	switch {
	case !p.Network:
		return nil, nil
	case e == nil && !r.options.AllowNetwork:
		return nil, errNoNetwork
	case e == nil:
		return nil, nil
	}
	rule := e.ruleOf(p.Tenant)
	if rule == nil {
		return nil, fmt.Errorf("network: no rule gives the tenant %q one: it would have to be in network.rules[].tenants", p.Tenant)
	}
	return &pass{rule: *rule, token: rand.Text()}, nil
}

// equip adds to a plan what makes programs use the proxy. What the program sets itself is left as it is.
func (a *pass) equip(plan *sandbox.Plan, own map[string]string) {
	if a == nil {
		return
	}
	proxy := fmt.Sprintf("http://job:%s@%s:%d", a.token, egressHost, egressPort)
	const direct = "localhost,127.0.0.1,::1"
	for _, set := range [][2]string{
		{"HTTP_PROXY", proxy},
		{"http_proxy", proxy},
		{"HTTPS_PROXY", proxy},
		{"https_proxy", proxy},
		{"ALL_PROXY", proxy},
		{"all_proxy", proxy},
		{"NO_PROXY", direct},
		{"no_proxy", direct},
		{"NODE_USE_ENV_PROXY", "1"},
	} {
		if _, theirs := own[set[0]]; !theirs {
			plan.Env = append(plan.Env, set[0]+"="+set[1])
		}
	}
	slices.Sort(plan.Env)
}

// job is who uses the proxy, for the proxy.
func (a *pass) job(p sandbox.Program) egress.Job {
	return egress.Job{Job: cmp.Or(p.ID, "unnamed"), Tenant: p.Tenant, Token: a.token, Rule: a.rule.Name, Sent: a.sent, Received: a.received}
}
