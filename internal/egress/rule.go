package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Rule is what the programs of a tenant may reach, and how much of it.
type Rule struct {
	// Name is how refusals call the rule, such as network.rules[0].
	Name string `json:"name"`
	// Domains are names, *.name for every name below one, or * for every name. They are in the form that Normalize gives.
	Domains []string `json:"domains"`
	// Ports are those that may be connected to. Plain HTTP wants 80 or another of them, too.
	Ports []int `json:"ports"`
	// MaxConnections is how many a job may have open at a time.
	MaxConnections int `json:"max_connections"`
	// MaxBytes is how much a job may send, and how much it may receive, over all its connections.
	MaxBytes int64 `json:"max_bytes"`
	// Timeout bounds each connection from the request to its end.
	Timeout time.Duration `json:"timeout"`
	// Private are blocks of private addresses that names may have all the same, such as that of the operator's own mirror.
	Private []netip.Prefix `json:"private,omitempty"`
}

// The most that a rule can allow.
const (
	MostConnections = 128
	MostBytes       = 1 << 40
	MostTimeout     = 24 * time.Hour
)

// Check tells everything that is wrong with a rule. The errors name the field as the configuration does.
func (r Rule) Check() error {
	var errs []error
	add := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s: %v is not allowed: want %s", field, value, want))
	}
	if len(r.Domains) == 0 {
		add("domains", "[]", "at least one name, such as pypi.org or *.pythonhosted.org")
	}
	for i, domain := range r.Domains {
		if err := checkDomain(domain); err != nil {
			add(fmt.Sprintf("domains[%d]", i), fmt.Sprintf("%q (%v)", domain, err), "a name in small letters, *. and a name, or *")
		}
	}
	if len(r.Ports) == 0 {
		add("ports", "[]", "at least one port, such as 443")
	}
	for i, port := range r.Ports {
		if port < 1 || port > 65535 {
			add(fmt.Sprintf("ports[%d]", i), port, "1 to 65535")
		}
	}
	if r.MaxConnections < 1 || r.MaxConnections > MostConnections {
		add("max_connections", r.MaxConnections, fmt.Sprintf("1 to %d", MostConnections))
	}
	if r.MaxBytes < 1 || r.MaxBytes > MostBytes {
		add("max_bytes", r.MaxBytes, "1 byte to 1 TiB")
	}
	if r.Timeout < time.Second || r.Timeout > MostTimeout {
		add("timeout", r.Timeout, fmt.Sprintf("1s to %s", MostTimeout))
	}
	for i, block := range r.Private {
		if err := checkPrivate(block); err != nil {
			add(fmt.Sprintf("allow_private[%d]", i), block, "a block of private addresses, such as 10.1.2.0/24")
		}
	}
	return errors.Join(errs...)
}

// EncodeRules is the file of rules that a proxy is started with. The same rules are the same bytes.
func EncodeRules(rules []Rule) ([]byte, error) {
	content, err := json.Marshal(rules)
	if err != nil {
		return nil, fmt.Errorf("encode rules: %w", err)
	}
	return content, nil
}

// DecodeRules reads what EncodeRules wrote, strictly: every rule must pass Check and have a name of its own.
func DecodeRules(content []byte) (rules []Rule, err error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rules); err != nil {
		return nil, fmt.Errorf("decode rules: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode rules: something follows them at byte %d: want nothing", decoder.InputOffset())
	}
	names := map[string]bool{}
	for _, rule := range rules {
		if err := rule.Check(); err != nil {
			return nil, fmt.Errorf("rule %q: %w", rule.Name, err)
		}
		if names[rule.Name] {
			return nil, fmt.Errorf("rule %q: is there twice", rule.Name)
		}
		names[rule.Name] = true
	}
	return rules, nil
}

// checkTarget refuses a name and a port that the rule does not allow.
func (r Rule) checkTarget(t target) error {
	if !slices.ContainsFunc(r.Domains, func(domain string) bool { return matches(domain, t.host) }) {
		return fmt.Errorf("%s is not among %s.domains (%s)", t.host, r.Name, list(r.Domains))
	}
	if !slices.Contains(r.Ports, t.port) {
		return fmt.Errorf("port %d is not among %s.ports %v", t.port, r.Name, r.Ports)
	}
	return nil
}

// listed bounds the names of a rule in a message.
const listed = 10

func list(domains []string) string {
	text := strings.Join(domains[:min(len(domains), listed)], ", ")
	if more := len(domains) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
