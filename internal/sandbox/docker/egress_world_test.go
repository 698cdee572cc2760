package docker

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// world is what lies beyond the proxy in a test: a web server with and without TLS and a DNS server, all on the host's address in a
// network of its own, which a rule may open since it is private.
type world struct {
	outgoing    string
	host        netip.Addr
	plain, tls  *httptest.Server
	dns         string
	connections atomic.Int64

	mu sync.Mutex
	// names have the answers that are given one after the other; the last goes on for ever.
	names map[string][]netip.Addr
	asked map[string]int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	testenv.Docker(t)
	w := &world{names: map[string][]netip.Addr{}, asked: map[string]int{}}
	w.outgoing, w.host = outside(t)
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			_, _ = rw.Write(make([]byte, 1<<20))
		default:
			_, _ = fmt.Fprintf(rw, "hello from %s via %q", r.Host, r.Header.Get("Proxy-Authorization"))
		}
	})
	w.plain, w.tls = w.serve(t, handler, false), w.serve(t, handler, true)
	w.names["allowed.test."] = []netip.Addr{w.host}
	w.dns = testenv.ServeDNS(t, w.host, w.answer)
	return w
}

// outside makes the network through which the proxy reaches the world, and returns its name and the host's address in it.
func outside(t *testing.T) (string, netip.Addr) {
	t.Helper()
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	name := "sandloop-test-" + rand.Text()
	_, err = docker.NetworkCreate(t.Context(), name, network.CreateOptions{Driver: "bridge"})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, docker.NetworkRemove(context.Background(), name))
		require.NoError(t, docker.Close())
	})
	made, err := docker.NetworkInspect(t.Context(), name, network.InspectOptions{})
	require.NoError(t, err)
	return name, netip.MustParseAddr(made.IPAM.Config[0].Gateway)
}

func (w *world) serve(t *testing.T, handler http.Handler, secure bool) *httptest.Server {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(w.host.String(), "0"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(handler)
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			w.connections.Add(1)
		}
	}
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func portOf(server *httptest.Server) int { return server.Listener.Addr().(*net.TCPAddr).Port }

// answer answers questions for A and AAAA with what names has, and all others with nothing.
func (w *world) answer(m dnsmessage.Message) *dnsmessage.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := m.Questions[0]
	reply := &dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
	answers := w.names[q.Name.String()]
	if len(answers) == 0 {
		reply.RCode = dnsmessage.RCodeNameError
		return reply
	}
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
	at := w.asked[q.Name.String()]
	addr := answers[min(at, len(answers)-1)]
	switch {
	case q.Type == dnsmessage.TypeA && addr.Is4():
		w.asked[q.Name.String()]++
		reply.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
	case q.Type == dnsmessage.TypeAAAA && addr.Is6():
		w.asked[q.Name.String()]++
		reply.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
	}
	return reply
}

// rule opens the world's servers under the names of *.test to the tenant acme.
func (w *world) rule(change ...func(*egress.Rule)) EgressRule {
	rule := egress.Rule{
		Name: "network.rules[0]", Domains: []string{"*.test"}, Ports: []int{portOf(w.plain), portOf(w.tls)}, MaxConnections: 4, MaxBytes: 4 << 20,
		Timeout: 30 * time.Second, Private: []netip.Prefix{netip.PrefixFrom(w.host, 32)},
	}
	for _, c := range change {
		c(&rule)
	}
	return EgressRule{Tenants: []string{"acme"}, Rule: rule}
}

// proxied gives a Runner the proxy to the world.
func (w *world) proxied(t *testing.T, rules ...EgressRule) func(*Options) {
	t.Helper()
	return func(o *Options) {
		o.Egress = &Egress{Rules: rules, ProxyPath: testenv.ProxyPath(t), Subnet: netip.MustParsePrefix("198.18.0.0/15"), DNS: w.dns, Outgoing: w.outgoing}
	}
}

// networked is a program of the tenant acme that asks for a network. PLAIN and TLS are the ports of the world's servers.
func (w *world) networked(lines ...string) sandbox.Program {
	ports := strings.NewReplacer("PLAIN", fmt.Sprint(portOf(w.plain)), "TLS", fmt.Sprint(portOf(w.tls)))
	p := python(append([]string{
		"import base64, os, socket, ssl, time, urllib.parse, urllib.request, urllib.error",
		"ssl._create_default_https_context = ssl._create_unverified_context",
		"def get(url):",
		"    try: return urllib.request.urlopen(url, timeout=20).read()",
		"    except urllib.error.HTTPError as e: return f'{e.code} {e.read().decode()}'.strip()",
		"    except OSError as e: return str(getattr(e, 'reason', e))",
		"def ask(target, password=None):",
		"    proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])",
		"    s = socket.create_connection((proxy.hostname, proxy.port), 20)",
		"    basic = base64.b64encode(f'job:{password or proxy.password}'.encode()).decode()",
		"    s.sendall(f'CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\nProxy-Authorization: Basic {basic}\\r\\n\\r\\n'.encode())",
		"    return s, s.recv(65536).decode()",
		"def connect(target): return ask(target)[0]",
		"def tunnel(target, password=None): return ask(target, password)[1].split('\\r\\n')[0].removeprefix('HTTP/1.1 ')",
	}, lines...)...)
	p.Source = []byte(ports.Replace(string(p.Source)))
	p.Network, p.Tenant, p.ID = true, "acme", "job-1"
	return p
}

// networks lists those of the installation.
func (b *bundle) networks(t testing.TB) []network.Summary {
	t.Helper()
	list, err := b.docker.NetworkList(context.Background(), network.ListOptions{
		Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+b.installation)),
	})
	require.NoError(t, err)
	return list
}
