package dockerproxy_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/sandloop/sandloop/internal/dockerproxy"
	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// world is what gates reach in a test: a web server and a DNS server for which every name is that of the web server, both on the host's address in a
// Docker network of the test's own.
type world struct {
	outgoing string
	host     netip.Addr
	port     int
	dns      string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	testenv.Docker(t)
	w := &world{outgoing: "sandloop-test-" + rand.Text()}
	daemon, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	_, err = daemon.NetworkCreate(t.Context(), w.outgoing, network.CreateOptions{Driver: "bridge"})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, daemon.NetworkRemove(context.Background(), w.outgoing))
		require.NoError(t, daemon.Close())
	})
	made, err := daemon.NetworkInspect(t.Context(), w.outgoing, network.InspectOptions{})
	require.NoError(t, err)
	w.host = netip.MustParseAddr(made.IPAM.Config[0].Gateway)

	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(w.host.String(), "0"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(rw, "hello from %s", r.Host) }))
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	w.port = listener.Addr().(*net.TCPAddr).Port
	w.dns = testenv.ServeDNS(t, w.host, w.answer)
	return w
}

// answer answers every question for A with the host's address.
func (w *world) answer(m dnsmessage.Message) *dnsmessage.Message {
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: w.host.As4()}}}
	}
	return &m
}

// subnet is beside that of other packages' tests, which run at the same time.
var subnet = netip.MustParsePrefix("198.19.128.0/17")

// behind gives docker-proxy the settings of the world's network, and run gives them to a Runner.
func (w *world) behind(t *testing.T) func(*dockerproxy.Options) {
	t.Helper()
	program, err := os.ReadFile(testenv.ProxyPath(t))
	require.NoError(t, err)
	return func(o *dockerproxy.Options) {
		o.Egress = &dockerproxy.Egress{Program: program, Rules: []egress.Rule{w.rule()}, Outgoing: w.outgoing, Subnet: subnet, DNS: w.dns}
	}
}

func (w *world) run(t *testing.T) func(*docker.Options) {
	t.Helper()
	return func(o *docker.Options) {
		o.Egress = &docker.Egress{ProxyPath: testenv.ProxyPath(t), Outgoing: w.outgoing, Subnet: subnet, DNS: w.dns, Rules: []docker.EgressRule{{
			Tenants: []string{"acme"}, Rule: w.rule(),
		}}}
	}
}

func (w *world) rule() egress.Rule {
	return egress.Rule{
		Name: "network.rules[0]", Domains: []string{"allowed.test"}, Ports: []int{w.port}, MaxConnections: 4, MaxBytes: 1 << 20, Timeout: 20 * time.Second,
		Private: []netip.Prefix{netip.PrefixFrom(w.host, 32)},
	}
}

// networks lists those of the test's installation.
func (b *bundle) networks() []network.Summary {
	b.t.Helper()
	list, err := b.daemon.NetworkList(context.Background(), network.ListOptions{
		Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+b.installation)),
	})
	require.NoError(b.t, err)
	return list
}

func TestAJobReachesThroughTheProxyWhatItsRuleAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.behind(t))
	r := b.runner(w.run(t))
	p := python(
		"import urllib.request, urllib.error",
		"def get(url):",
		"    try: return urllib.request.urlopen(url, timeout=20).read().decode()",
		"    except urllib.error.HTTPError as e: return f'{e.code} {e.read().decode()}'.strip()",
		fmt.Sprintf("print(get('http://allowed.test:%d/'))", w.port),
		fmt.Sprintf("print(get('http://other.test:%d/'))", w.port),
		fmt.Sprintf("print(get('http://%s:%d/'))", w.host, w.port),
	)
	p.Network, p.Tenant = true, "acme"
	want := fmt.Sprintf(`hello from allowed.test:%d
403 sandloop: other.test is not among network.rules[0].domains (allowed.test)
403 sandloop: %q is an address: only names can be reached
`, w.port, w.host.String())
	for _, warm := range []bool{false, true} { // the second has a lane that was made ahead of need
		result, err := r.Run(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, "%s %s", result.Message, result.Stderr.Data)
		require.Equal(t, want, string(result.Stdout.Data))
		require.NotNil(t, result.Network)
		require.EqualValues(t, 2, result.Network.Refused)
		require.Equal(t, warm, result.Enforcement.Warm)
		require.NoError(t, r.Warm(t.Context()))
	}
	for _, lane := range b.networks() {
		require.True(t, lane.Internal)
		b.refused(http.MethodGet, "/networks/"+lane.ID, nil, "workers do not use it")
		b.refused(http.MethodPost, "/networks/"+w.outgoing+"/connect", network.ConnectOptions{Container: b.containers()[0].ID}, "none of sandloop's")
	}

	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	require.NoError(t, r.Close(ctx))
	require.Empty(t, b.networks(), "the lanes went with their sandboxes")
	require.Empty(t, b.containers(), "and the gate with its worker")
}

// What a worker with a network left when it died goes behind the proxy, too.
func TestTheReaperRemovesLanesAndGatesThroughTheProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.behind(t))
	program, err := b.daemon.ImageInspect(t.Context(), b.image)
	require.NoError(t, err)
	var block netip.Prefix
	require.Eventually(t, func() bool { // another test's lane may have the addresses
		var random [1]byte
		_, _ = rand.Read(random[:])
		block = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 19, 200, random[0] &^ 7}), 29)
		_, err = b.worker.NetworkCreate(t.Context(), fmt.Sprintf("sandloop-lane-%012x", random[0]), docker.LaneConfig(block, "dead", b.installation))
		return err == nil
	}, bound, 10*time.Millisecond)
	config, host := docker.GateConfig(docker.GateSpec{
		ImageID: program.ID, Outgoing: w.outgoing, DNS: w.dns, Worker: "dead", Installation: b.installation, Expires: time.Now(),
	})
	gate, err := b.worker.ContainerCreate(t.Context(), config, host, nil, nil, "sandloop-"+b.installation+"-egress")
	require.NoError(t, err)
	require.Len(t, b.networks(), 1)
	lane := b.networks()[0].Name
	require.NoError(t, b.worker.NetworkConnect(t.Context(), lane, gate.ID, docker.GateEndpoint(docker.GateAddress(block))))
	foreign, err := b.daemon.ContainerCreate(t.Context(), &container.Config{Image: b.image}, nil, nil, nil, "")
	require.NoError(t, err)
	defer func() {
		require.NoError(t, b.daemon.ContainerRemove(t.Context(), foreign.ID, container.RemoveOptions{Force: true}))
	}()
	require.ErrorContains(t, b.worker.NetworkConnect(t.Context(), lane, foreign.ID, docker.GateEndpoint(docker.GateAddress(block))), "none of sandloop's")
	require.ErrorContains(t, b.worker.NetworkConnect(t.Context(), "bridge", gate.ID, nil), "none of sandloop's")

	sweeper, err := reaper.New(b.worker, reaper.Options{
		Installation: b.installation, Confirm: time.Millisecond, Grace: time.Millisecond,
		Alive: func(context.Context, ...string) (map[string]bool, error) { return nil, nil },
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := sweeper.Sweep(t.Context())
		require.NoError(t, err)
		return len(b.containers()) == 0 && len(b.networks()) == 0
	}, bound, 50*time.Millisecond)
}
