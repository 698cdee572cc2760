package docker

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAProgramReachesThroughTheProxyWhatItsRuleAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule()))
	got := b.run(t, w.networked(
		"print(get('http://allowed.test:PLAIN/x'))",
		"print(get('https://allowed.test:TLS/x'))",
		"print(get('http://Allowed.TEST.:PLAIN/x'))",
		"print(get('https://elsewhere.example:TLS/'))",
		"print(get('http://elsewhere.example:PLAIN/'))",
		"print(get('https://allowed.test:22/'))",
	))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	plain, tls := portOf(w.plain), portOf(w.tls)
	require.Equal(t, fmt.Sprintf(`b'hello from allowed.test:%d via ""'
b'hello from allowed.test:%d via ""'
b'hello from allowed.test:%d via ""'
Tunnel connection failed: 403 sandloop: elsewhere.example is not among network.rules[0].domains (*.test)
403 sandloop: elsewhere.example is not among network.rules[0].domains (*.test)
Tunnel connection failed: 403 sandloop: port 22 is not among network.rules[0].ports [%d %d]
`, plain, tls, plain, plain, tls), string(got.Stdout.Data))

	require.NotNil(t, got.Network)
	require.Len(t, got.Network.Connections, 6)
	require.EqualValues(t, 3, got.Network.Refused)
	allowed := 0
	for _, made := range got.Network.Connections { // in the order in which they ended
		if made.Verdict == sandbox.ConnectionAllowed {
			allowed++
			require.Equal(t, "allowed.test", made.Host)
			require.Positive(t, made.Sent)
			require.Greater(t, made.Received, int64(len("hello from allowed.test")))
		}
	}
	require.Equal(t, 3, allowed)
}

func TestAProgramWithoutARuleHasNoNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule()))
	p := w.networked("print(1)")
	p.Tenant = "other"
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeRejected, got.Outcome)
	require.Equal(t, `network: no rule gives the tenant "other" one: it would have to be in network.rules[].tenants`, got.Message)

	p.Network = false
	p.Source = []byte("import os, socket; print([name for _, name in socket.if_nameindex()], [k for k in os.environ if 'PROXY' in k.upper()])\n")
	got = b.run(t, p)
	require.Equal(t, "['lo'] []\n", string(got.Stdout.Data), "%s", got.Stderr.Data)
	require.Nil(t, got.Network)
	require.Empty(t, b.networks(t), "a program without a network has none made")
}

func TestNamesAndAddressesThatLeadInsideAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mu.Lock()
	for name, addr := range map[string]string{
		"loopback": "127.0.0.1", "private": "10.0.0.1", "metadata": "169.254.169.254", "mapped": "::ffff:127.0.0.1", "nat64": "64:ff9b::7f00:1",
		"lane": "198.18.0.3", "wire": "168.63.129.16",
	} {
		w.names[name+".test."] = []netip.Addr{netip.MustParseAddr(addr)}
	}
	// The first question and the others have different answers, as of someone who wants what was checked to be another than what is used.
	w.names["rebinding.test."] = []netip.Addr{w.host, netip.MustParseAddr("127.0.0.1")}
	w.mu.Unlock()
	b := setup(t, w.proxied(t, w.rule()))
	got := b.run(t, w.networked(
		"for name in 'loopback', 'private', 'metadata', 'mapped', 'nat64', 'lane', 'wire':",
		"    print(get(f'http://{name}.test:PLAIN/'))",
		"for host in '127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '127.0.0.1.':",
		"    print(get(f'http://{host}:PLAIN/'), end=' ') if False else print(tunnel(f'{host}:PLAIN'))",
		"print(get('http://rebinding.test:PLAIN/'))",
		"print(get('http://rebinding.test:PLAIN/'))",
		"print(get('http://missing.test:PLAIN/'))",
	))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	require.Equal(t, fmt.Sprintf(`403 sandloop: loopback.test is not reached: it has the address 127.0.0.1, a loopback address
403 sandloop: private.test is not reached: it has the address 10.0.0.1, a private address
403 sandloop: metadata.test is not reached: it has the address 169.254.169.254, a cloud metadata address
403 sandloop: mapped.test is not reached: it has the address 127.0.0.1, a loopback address
403 sandloop: nat64.test is not reached: it has the address 64:ff9b::7f00:1, an IPv4 address inside of an IPv6 one
403 sandloop: lane.test is not reached: it has the address 198.18.0.3, a reserved address
403 sandloop: wire.test is not reached: it has the address 168.63.129.16, a cloud metadata address
403 sandloop: "127.0.0.1" is an address: only names can be reached
403 sandloop: "2130706433" is an address: only names can be reached
403 sandloop: "0x7f.1" is an address: only names can be reached
403 sandloop: "0177.0.0.1" is an address: only names can be reached
403 sandloop: "::1" is an address: only names can be reached
403 sandloop: "::ffff:127.0.0.1" is an address: only names can be reached
403 sandloop: "127.0.0.1." is an address: only names can be reached
b'hello from rebinding.test:%d via ""'
403 sandloop: rebinding.test is not reached: it has the address 127.0.0.1, a loopback address
502 sandloop: resolve missing.test: no such host
`, portOf(w.plain)), string(got.Stdout.Data))
	require.EqualValues(t, 1, w.connections.Load(), "only the first answer of rebinding.test leads to the server")
	require.EqualValues(t, 15, got.Network.Refused)
}

func TestNothingButTheProxyIsReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule()), pooled(0))
	neighbour := w.networked(
		"server = socket.create_server(('0.0.0.0', 4000)); server.settimeout(25)",
		"print(socket.gethostbyname(socket.gethostname()), flush=True)",
		"try: server.accept(); print('visited')",
		"except TimeoutError: print('alone')",
	)
	neighbour.ID = "job-2"
	address := make(chan string, 1)
	neighbour.OnOutput = func(o sandbox.Output) {
		select {
		case address <- strings.TrimSpace(string(o.Data)):
		default:
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan sandbox.Result, 1)
	go func() {
		result, err := b.Run(ctx, neighbour)
		if err != nil {
			result.Message = err.Error()
		}
		ended <- result
	}()
	other := <-address
	got := b.run(t, w.networked(
		"from concurrent.futures import ThreadPoolExecutor",
		"def visit(host, port, family=socket.AF_INET):",
		"    s = socket.socket(family); s.settimeout(5)",
		"    try: s.connect((host, port)); return 'CONNECTED'",
		"    except OSError as e: return 'no'",
		"def lookup(name):",
		"    try: return socket.getaddrinfo(name, 80)",
		"    except OSError: return 'no name'",
		"me = socket.gethostbyname(socket.gethostname())",
		"base = me.rsplit('.', 1)[0] + '.' + str(int(me.rsplit('.', 1)[1]) // 8 * 8 + 1)",
		"tasks = [",
		fmt.Sprintf("    ('host', visit, '%s', PLAIN), ('neighbour', visit, '%s', 4000), ('its proxy', visit, '%s', 3128),", w.host, other, proxyOf(other)),
		"    ('gateway', visit, base, PLAIN), ('gateway ssh', visit, base, 22), ('gateway docker', visit, base, 2375), ('metadata', visit, '169.254.169.254', 80),",
		"    ('proxy', visit, 'sandloop-egress', 3128), ('proxy ssh', visit, 'sandloop-egress', 22),",
		"    ('IPv6', visit, '2606:4700::1111', 443, socket.AF_INET6),",
		"    ('allowed.test', lookup, 'allowed.test'), ('example.com', lookup, 'example.com'), ('redis', lookup, 'redis'),",
		"    ('password', tunnel, 'allowed.test:TLS', 'wrong'),",
		"]",
		"with ThreadPoolExecutor(len(tasks)) as pool:",
		"    for task, found in [(task, pool.submit(task[1], *task[2:])) for task in tasks]: print(task[0], found.result())",
		"print('IPv6 address', any('eth0' in line for line in open('/proc/net/if_inet6')))",
	))
	cancel(sandbox.ErrCanceled)
	visited := <-ended
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	require.Equal(t, `host no
neighbour no
its proxy no
gateway no
gateway ssh no
gateway docker no
metadata no
proxy CONNECTED
proxy ssh no
IPv6 no
allowed.test no name
example.com no name
redis no name
password 407 sandloop: want the user and password that HTTPS_PROXY has
IPv6 address False
`, string(got.Stdout.Data))
	require.NotContains(t, string(visited.Stdout.Data), "visited")
	require.Zero(t, w.connections.Load())
}

// proxyOf is the proxy's address in the lane of a sandbox.
func proxyOf(sandboxAddress string) netip.Addr {
	return netip.PrefixFrom(netip.MustParseAddr(sandboxAddress), laneBits).Masked().Addr().Next().Next()
}

func TestBytesAndConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule(func(r *egress.Rule) { r.MaxBytes, r.MaxConnections, r.Timeout = 1<<20+1<<19, 2, 3*time.Second })))
	got := b.run(t, w.networked(
		"held = [connect('allowed.test:TLS') for _ in range(2)]",
		"print(tunnel('allowed.test:TLS'))",
		"for s in held: s.close()",
		"time.sleep(0.5)",
		"s = connect('allowed.test:PLAIN'); begun = time.time()",
		"print(s.recv(1), 2.5 < time.time() - begun < 8)",
		"print(len(get('http://allowed.test:PLAIN/big')))",
		"s = connect('allowed.test:PLAIN'); s.sendall(b'GET /big HTTP/1.0\\r\\n\\r\\n')",
		"total = 0",
		"while piece := s.recv(65536): total += len(piece)",
		"print(0 < total <= 1 << 19)",
		"print(get('http://allowed.test:PLAIN/'))",
	))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	require.Equal(t, `403 sandloop: 2 connections are open: more are not allowed (network.rules[0].max_connections)
b'' True
1048576
True
403 sandloop: byte limit: a job may send and receive 1572864 bytes each (network.rules[0].max_bytes)
`, string(got.Stdout.Data))
	require.LessOrEqual(t, got.Network.Received, int64(1<<20+1<<19))
	reasons := ""
	for _, made := range got.Network.Connections {
		reasons += made.Reason + "\n"
	}
	require.Contains(t, reasons, "the connection was cut after 3s (network.rules[0].timeout)")
}

// Whether all tests of a job run in one container or each in its own: what one used up the others do not have.
func TestBytesAreThoseOfAllTestsOfAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for containers, last := range map[int64]string{
		1: "",
		3: "server = socket.create_server(('127.0.0.1', 0)); a = socket.create_connection(server.getsockname()); b = server.accept()[0]; a.close(); b.recv(1)",
	} {
		b := setup(t, w.proxied(t, w.rule(func(r *egress.Rule) { r.MaxBytes = 1<<20 + 1<<19 })))
		got, whole := b.runTests(t, w.networked(
			"s, status = ask('allowed.test:PLAIN')",
			"total = 0",
			"if ' 200 ' in status:",
			"    s.sendall(b'GET /big HTTP/1.0\\r\\n\\r\\n')",
			"    while piece := s.recv(65536): total += len(piece)",
			"print(status.split('\\r\\n')[0], 'whole' if total > 1 << 20 else 'cut' if total <= 1 << 19 else total)",
			last, // a connection in TIME-WAIT
		), sandbox.Test{ID: "first"}, sandbox.Test{ID: "second"}, sandbox.Test{ID: "third"})
		require.Len(t, got, 3)
		require.Equal(t, "HTTP/1.1 200 Connection established whole\n", string(got[0].Stdout.Data), "%s", got[0].Stderr.Data)
		require.Equal(t, "HTTP/1.1 200 Connection established cut\n", string(got[1].Stdout.Data), "%s", got[1].Stderr.Data)
		require.Contains(t, string(got[2].Stdout.Data), " cut\n") // what is left is less than what the last piece had
		require.Equal(t, containers, b.Stats().ColdStarts)
		require.LessOrEqual(t, whole.Network.Received, int64(1<<20+1<<19))
		require.Greater(t, whole.Network.Received, int64(1<<20))
	}
}

func TestAProxyThatWasKilledIsStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule()), pooled(1))
	program := func() sandbox.Program { return w.networked("print(get('http://allowed.test:PLAIN/')[:5])") }
	require.Equal(t, "b'hello'\n", string(b.run(t, program()).Stdout.Data))
	require.NoError(t, b.Warm(t.Context()), "now one that is connected to the proxy waits")
	require.NoError(t, b.docker.ContainerKill(t.Context(), b.gates.gate.id, "KILL"))
	<-b.gates.gate.lost
	got := b.run(t, program())
	require.Equal(t, "b'hello'\n", string(got.Stdout.Data), "%s", got.Stderr.Data)
	require.False(t, got.Enforcement.Warm)
}

func TestAWarmContainerHasItsLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := setup(t, w.proxied(t, w.rule()), pooled(1))
	program := w.networked("print(get('http://allowed.test:PLAIN/')[:5])")
	require.Equal(t, "b'hello'\n", string(b.run(t, program).Stdout.Data))
	require.NoError(t, b.Warm(t.Context()))
	got := b.run(t, program)
	require.Equal(t, "b'hello'\n", string(got.Stdout.Data), "%s", got.Stderr.Data)
	require.True(t, got.Enforcement.Warm)
	require.Len(t, got.Network.Connections, 1, "those of the job before are not its own")
}
