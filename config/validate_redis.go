package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Schemes are those of a URL in redis.addr: one server, Sentinel
// (redis+sentinel://host:port,host:port/master), Cluster (redis+cluster://host:port,host:port)
// and each of these with TLS.
func Schemes() []string {
	return []string{"redis", "redis+sentinel", "redis+cluster", "rediss", "rediss+sentinel", "rediss+cluster"}
}

func (r Redis) validate(p *problems) {
	r.validateAddr(p)
	within(p, "redis.db", r.DB, 0, 16383)
	p.word("redis.prefix", r.Prefix)
	host, port, err := net.SplitHostPort(r.EmbeddedAddr)
	if err != nil || !isPort(port) || !isLoopback(host) {
		// The embedded Redis asks for no password.
		p.add("redis.embedded_addr", fmt.Sprintf("%q", r.EmbeddedAddr), "a loopback address with its port, such as 127.0.0.1:6390")
	}
	if (r.TLS.Cert == "") != (r.TLS.Key == "") {
		p.add("redis.tls.cert and redis.tls.key", fmt.Sprintf("%q with %q", r.TLS.Cert, r.TLS.Key), "both or neither")
	}
}

func (r Redis) validateAddr(p *problems) {
	want := "embedded, host:port or a URL with a scheme of " + strings.Join(Schemes(), ", ")
	if r.Addr == Embedded {
		return
	}
	scheme, rest, isURL := strings.Cut(r.Addr, "://")
	if !isURL {
		host, port, err := net.SplitHostPort(r.Addr)
		if err != nil || host == "" || !isPort(port) {
			p.add("redis.addr", fmt.Sprintf("%q", r.Addr), want)
		}
		return
	}
	authority, _, _ := strings.Cut(rest, "/")
	if !slices.Contains(Schemes(), scheme) || authority == "" {
		p.add("redis.addr", fmt.Sprintf("%q", redactURL(r.Addr)), want)
		return
	}
	if strings.Contains(authority, "@") && r.Password != "" {
		p.add("redis.addr", fmt.Sprintf("%q", redactURL(r.Addr)), "no user or password in it beside redis.password")
	}
}

// hasPassword tells whether a URL has one.
func hasPassword(addr string) bool {
	head, _, _ := cutLast(addr, "@")
	_, user, isURL := strings.Cut(head, "://")
	_, password, _ := strings.Cut(user, ":")
	return isURL && password != ""
}

// redactURL replaces the password in a URL; of what is not one it keeps nothing.
func redactURL(addr string) string {
	if addr == Embedded || !strings.Contains(addr, "://") {
		return addr
	}
	head, hosts, found := cutLast(addr, "@")
	if !found {
		return addr
	}
	scheme, user, _ := strings.Cut(head, "://")
	name, _, _ := strings.Cut(user, ":")
	return scheme + "://" + url.PathEscape(name) + ":" + redacted + "@" + hosts
}

func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

func isPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port >= 1 && port <= 65535
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
