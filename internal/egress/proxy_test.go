package egress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.MustParseAddr("127.0.0.1")

// bench is a proxy for one job, with a world behind it in which every public address is the test's own server.
type bench struct {
	proxy *Proxy
	addr  string
	world *httptest.Server

	mu       sync.Mutex
	answers  map[string][][]netip.Addr
	dialed   []netip.AddrPort
	reported []sandbox.Connection
}

func setup(t *testing.T, handler http.HandlerFunc, change ...func(*Rule)) *bench {
	t.Helper()
	b := &bench{world: httptest.NewServer(handler), answers: map[string][][]netip.Addr{
		"allowed.example": {{netip.MustParseAddr("93.184.216.34")}},
	}}
	t.Cleanup(b.world.Close)
	rule := Rule{Name: "network.rules[0]", Domains: []string{"*.example"}, Ports: []int{80, 443}, MaxConnections: 2, MaxBytes: 1 << 20, Timeout: time.Minute}
	for _, c := range change {
		c(&rule)
	}
	require.NoError(t, rule.Check())
	b.proxy = New(Network{Resolve: b.resolve, Dial: b.dial}, []Rule{rule}, func(_ Job, made sandbox.Connection) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reported = append(b.reported, made)
	})
	require.NoError(t, b.proxy.Open(loopback, Job{Job: "j", Tenant: "acme", Token: "token", Rule: "network.rules[0]"}))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	b.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.proxy.Serve(ctx, listener) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-served) })
	return b
}

func (b *bench) resolve(_ context.Context, name string) ([]netip.Addr, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answers := b.answers[name]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, Server: "10.0.0.53:53", IsNotFound: true}
	}
	if len(answers) > 1 {
		b.answers[name] = answers[1:]
	}
	return answers[0], nil
}

func (b *bench) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	b.mu.Lock()
	b.dialed = append(b.dialed, to)
	b.mu.Unlock()
	if to.Addr() == netip.MustParseAddr("93.184.216.99") {
		return nil, errors.New("connection refused")
	}
	return new(net.Dialer).DialContext(ctx, "tcp", b.world.Listener.Addr().String())
}

func (b *bench) client(t *testing.T, token string) *http.Client {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", User: url.UserPassword("job", token), Host: b.addr}), DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get returns status and body of a plain request through the proxy.
func (b *bench) get(t *testing.T, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	response, err := b.client(t, "token").Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(body))
}

// connect asks for a tunnel and returns it with the status line.
func (b *bench) connect(t *testing.T, target, token string) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	basic := base64.StdEncoding.EncodeToString([]byte("job:" + token))
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", target, target, basic)
	require.NoError(t, err)
	reader := bufio.NewReader(conn)
	status, err := reader.ReadString('\n')
	require.NoError(t, err)
	for { // the rest of the head
		line, err := reader.ReadString('\n')
		if err != nil || line == "\r\n" {
			return conn, reader, strings.TrimSpace(strings.TrimPrefix(status, "HTTP/1.1 "))
		}
	}
}

func hello(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "hello %s %s %q%q", r.Host, r.URL.Path, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Forwarded-For"))
}

func TestPlainRequestsAreForwarded(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	status, body := b.get(t, "http://ALLOWED.example./x")
	require.Equal(t, 200, status)
	require.Equal(t, `hello allowed.example /x """"`, body)
	require.Eventually(t, func() bool { // the answer is here before the connection has ended
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.reported) == 1
	}, 20*time.Second, time.Millisecond)
	use := b.proxy.Close(loopback)
	require.Len(t, use.Connections, 1)
	require.Equal(t, "allowed.example", use.Connections[0].Host)
	require.Equal(t, 80, use.Connections[0].Port)
	require.Equal(t, sandbox.ConnectionAllowed, use.Connections[0].Verdict)
	require.Empty(t, use.Connections[0].Reason)
	require.Equal(t, use.Connections[0].Sent, use.Sent)
	require.Greater(t, use.Received, int64(len(body)))
	require.Equal(t, use.Connections, b.reported)
}

func TestATunnelCarriesBytesBothWaysAndHalfCloses(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	conn, reader, status := b.connect(t, "allowed.example:443", "token")
	require.Equal(t, "200 Connection established", status)
	const request = "GET /y HTTP/1.0\r\nHost: h\r\n\r\n"
	_, err := io.WriteString(conn, request)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Contains(t, string(answer), "hello h /y")
	use := b.proxy.Close(loopback)
	require.EqualValues(t, len(request), use.Sent)
	require.EqualValues(t, len(answer), use.Received)
}

func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	b.answers["inside.example"] = [][]netip.Addr{{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}}
	b.answers["down.example"] = [][]netip.Addr{{netip.MustParseAddr("93.184.216.99")}}
	for target, want := range map[string]string{
		"elsewhere.org:443":   "403 sandloop: elsewhere.org is not among network.rules[0].domains (*.example)",
		"allowed.example:22":  "403 sandloop: port 22 is not among network.rules[0].ports [80 443]",
		"127.0.0.1:443":       `403 sandloop: "127.0.0.1" is an address: only names can be reached`,
		"[::1]:443":           `403 sandloop: "::1" is an address: only names can be reached`,
		"allowed.example:0":   `403 sandloop: "0" is not a port`,
		"allowed.example:080": `403 sandloop: "080" is not a port`,
		"inside.example:443":  "403 sandloop: inside.example is not reached: it has the address 10.0.0.1, a private address",
		"missing.example:443": "502 sandloop: resolve missing.example: no such host",
		"down.example:443":    "502 sandloop: connect to down.example:443: connection refused",
	} {
		_, _, status := b.connect(t, target, "token")
		require.Equal(t, want, status, target)
	}
	const refusal = "sandloop: elsewhere.org is not among network.rules[0].domains (*.example)"
	for method, want := range map[string]string{
		http.MethodGet:  "403 " + refusal,
		http.MethodPost: "403 Forbidden", // its body is not read
	} {
		body := io.Reader(http.NoBody)
		if method == http.MethodPost {
			body = strings.NewReader("a body")
		}
		request, err := http.NewRequestWithContext(t.Context(), method, "http://elsewhere.org/", body)
		require.NoError(t, err)
		response, err := b.client(t, "token").Do(request)
		require.NoError(t, err)
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.Status)
		require.Equal(t, refusal+"\n", string(answer))
	}
	_, _, line := b.connect(t, "allowed.example:443", "wrong")
	require.Equal(t, "407 sandloop: want the user and password that HTTPS_PROXY has", line)
	require.EqualValues(t, 10, b.proxy.Close(loopback).Refused)
}

func TestWhatWasCheckedIsDialed(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	b.answers["moving.example"] = [][]netip.Addr{{netip.MustParseAddr("93.184.216.99"), netip.MustParseAddr("::ffff:93.184.216.35")}, {loopback}}
	_, _, status := b.connect(t, "moving.example:443", "token")
	require.Equal(t, "200 Connection established", status)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("93.184.216.99:443"), netip.MustParseAddrPort("93.184.216.35:443")}, b.dialed)
	_, _, status = b.connect(t, "moving.example:443", "token")
	require.Equal(t, "403 sandloop: moving.example is not reached: it has the address 127.0.0.1, a loopback address", status)
	require.Len(t, b.dialed, 2)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(make([]byte, 3000))
	}, func(r *Rule) { r.MaxBytes, r.MaxConnections = 4000, 1 })
	held, _, status := b.connect(t, "allowed.example:443", "token")
	require.Equal(t, "200 Connection established", status)
	_, _, status = b.connect(t, "allowed.example:443", "token")
	require.Equal(t, "403 sandloop: 1 connections are open: more are not allowed (network.rules[0].max_connections)", status)

	_, err := held.Write(make([]byte, 4001))
	require.NoError(t, err)
	_, err = io.ReadAll(held)
	require.NoError(t, err)
	use := b.proxy.Close(loopback)
	require.LessOrEqual(t, use.Sent, int64(4000))
	require.Len(t, use.Connections, 2)
	require.Equal(t, sandbox.ConnectionRefused, use.Connections[1].Verdict)
	require.Equal(t, "byte limit: a job may send and receive 4000 bytes each (network.rules[0].max_bytes)", use.Connections[1].Reason)
}

func TestAnAnswerThatIsTooLongIsCutAndNotEnded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write(make([]byte, 1000))
			w.(http.Flusher).Flush()
		}
	}, func(r *Rule) { r.MaxBytes = 50_000 })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://allowed.example/", http.NoBody)
	require.NoError(t, err)
	response, err := b.client(t, "token").Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	got, err := io.Copy(io.Discard, response.Body)
	require.Error(t, err, "a cut answer must not look like a whole one")
	require.Less(t, got, int64(50_000))
	require.EqualValues(t, 1, b.proxy.Close(loopback).Refused)
}

func TestTheEndOfAJobCutsItsConnections(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	conn, reader, _ := b.connect(t, "allowed.example:443", "token")
	use := b.proxy.Close(loopback)
	require.Equal(t, "the job has ended", use.Connections[0].Reason)
	_, err := reader.ReadByte()
	require.Error(t, err)
	_ = conn.Close()

	late, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.addr)
	require.NoError(t, err)
	defer func() { _ = late.Close() }()
	_, err = late.Read(make([]byte, 1))
	require.Error(t, err, "nobody may use this address any more")
}

func TestManyConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	for range reportedConnections + 3 {
		_, _, status := b.connect(t, "elsewhere.org:443", "token")
		require.Contains(t, status, "403 ")
	}
	use := b.proxy.Close(loopback)
	require.Len(t, use.Connections, reportedConnections)
	require.Len(t, b.reported, reportedConnections)
	require.EqualValues(t, 3, use.More)
	require.EqualValues(t, reportedConnections+3, use.Refused)
}

func TestAConnectionIsCutAtItsTime(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, func(r *Rule) { r.Timeout = time.Second })
	_, reader, _ := b.connect(t, "allowed.example:443", "token")
	_, err := reader.ReadByte() // the deadline of the test's side is later
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "the connection was cut after 1s (network.rules[0].timeout)", b.proxy.Close(loopback).Connections[0].Reason)
}

func TestOrdersAndNotices(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	orders, worker := io.Pipe()
	heard, proxy := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), listener, Network{}, []Rule{{Name: "r", Domains: []string{"a.example"}}}, orders, proxy)
	}()
	notices := json.NewDecoder(heard)
	next := func() (n Notice) {
		require.NoError(t, notices.Decode(&n))
		return n
	}
	require.Equal(t, Notice{}, next())
	say := func(o Order) { require.NoError(t, json.NewEncoder(worker).Encode(o)) }
	go say(Order{At: loopback, Open: &Job{Job: "j", Token: "t", Rule: "r"}})
	require.Equal(t, Notice{At: loopback, Opened: true}, next())
	go say(Order{At: loopback, Open: &Job{Job: "k", Token: "t", Rule: "another"}})
	require.Equal(t, Notice{At: loopback, Refused: `the proxy has no rule "another"`}, next())
	go say(Order{At: loopback})
	require.Equal(t, Notice{At: loopback, Closed: &sandbox.NetworkUse{}}, next())
	require.NoError(t, worker.Close())
	require.NoError(t, <-done, "the end of the worker is a good end")

	require.ErrorContains(t, obey(strings.NewReader("{\n"), func(Order) {}), "read order")
}

func TestRulesAreChecked(t *testing.T) {
	t.Parallel()
	err := Rule{Domains: []string{"PyPI.org", "10.0.0.1", "*.a..b", "*", "a.example"}, Ports: []int{0, 443}, MaxConnections: 0, MaxBytes: -1, Timeout: 0, Private: []netip.Prefix{netip.MustParsePrefix("8.0.0.0/8")}}.Check()
	for _, want := range []string{"domains[0]: \"PyPI.org\"", "domains[1]", "domains[2]", "ports[0]: 0", "max_connections: 0", "max_bytes: -1", "timeout: 0s", "allow_private[0]: 8.0.0.0/8"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "domains[3]")
	require.NotContains(t, err.Error(), "ports[1]")
	require.ErrorContains(t, Rule{}.Check(), "domains: [] is not allowed")
}

func TestRulesComeFromAFileThatIsCheckedAsAWhole(t *testing.T) {
	t.Parallel()
	rule := Rule{
		Name: "a", Domains: []string{"a.example"}, Ports: []int{443}, MaxConnections: 2, MaxBytes: 1 << 20, Timeout: time.Minute,
		Private: []netip.Prefix{netip.MustParsePrefix("10.1.2.0/24")},
	}
	content, err := EncodeRules([]Rule{rule})
	require.NoError(t, err)
	require.JSONEq(t, `[{"name":"a","domains":["a.example"],"ports":[443],"max_connections":2,"max_bytes":1048576,"timeout":60000000000,"private":["10.1.2.0/24"]}]`, string(content))
	got, err := DecodeRules(content)
	require.NoError(t, err)
	require.Equal(t, []Rule{rule}, got)
	for text, want := range map[string]string{
		``: "decode rules", `{}`: "decode rules", `[] []`: "something follows them at byte 4", `[{"nam":"a"}]`: `unknown field "nam"`,
		strings.Replace(string(content), "443", "0", 1):                     `rule "a": ports[0]: 0`,
		strings.Replace(string(content), "10.1.2.0", "127.0.0.0", 1):        `rule "a": allow_private[0]`,
		"[" + string(content[1:len(content)-1]) + "," + string(content[1:]): `rule "a": is there twice`,
	} {
		_, err := DecodeRules([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"CONNECT pypi.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n\r\n", "GET http://pypi.org/x HTTP/1.1\r\nHost: other\r\n\r\n", "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
		"GET http://user:pw@pypi.org/ HTTP/1.1\r\n\r\n", "GET http://127.0.0.1:80/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT /x HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST http://0x7f.1:65536/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "GET http://a.example:+80/ HTTP/1.1\r\n\r\n",
		"GET http://%31%32%37.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET https://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a.example:443:80 HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil {
			return
		}
		got, err := targetOf(request)
		if err != nil {
			require.NotContains(t, printable(err.Error()), "\n")
			return
		}
		normal, err := Normalize(got.host)
		require.NoError(t, err)
		require.Equal(t, normal, got.host)
		require.True(t, got.port >= 1 && got.port <= 65535)
		_, err = netip.ParseAddr(got.host)
		require.Error(t, err)
		_ = passwordIn(request.Header.Get("Proxy-Authorization"))
	})
}
