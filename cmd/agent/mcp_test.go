package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestCommandLinesOfMCPThatAreWrong(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), env: map[string]string{tokenVariable: "short"}}
	long := b.file(t, "long", "canary-of-two words\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"mcp", "serve"}, `unknown command "serve"`},
		{[]string{"mcp", "--http", "127.0.0.1:0", "more"}, `unknown command "127.0.0.1:0"`},
		{[]string{"mcp", "--session", "../x"}, "--session: "},
		{[]string{"mcp", "--queue", "fast"}, "--queue"},
		{[]string{"mcp", "--token-file", long}, "a token is for --http"},
		{[]string{"mcp", "--http", "--token-file", b.dir + "/none"}, "--token-file: open "},
		{[]string{"mcp", "--http", "--token-file", long}, "long: a token is one word of visible ASCII characters"},
		{[]string{"mcp", "--http", "127.0.0.1:0"}, tokenVariable + ": a token has at least 16 characters, this one has 5"},
	} {
		got := b.agent(t, c.args...)
		require.Equal(t, cli.ExitUsage, got.code, "%s: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.says)
		require.NotContains(t, got.stderr, "canary")
		require.Empty(t, got.stdout)
	}
}

func TestAnAddressThatCannotBeServed(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t)
	got := b.agent(t, "mcp", "--http=nowhere")
	require.Equal(t, cli.ExitUsage, got.code, got.stderr)
	require.Contains(t, got.stderr, "--http: listen tcp: address nowhere: missing port")
	got = b.agent(t, "mcp", "--http", "0.0.0.0:0")
	require.Equal(t, cli.ExitUsage, got.code, got.stderr)
	require.NotContains(t, got.stderr, "serving")
	require.Contains(t, got.stderr, "needs a token: set "+tokenVariable+" or --token-file")
}

// shared is a buffer that a command writes and a test reads.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// mcpServer is a running agent mcp.
type mcpServer struct {
	stderr *shared
	stop   context.CancelFunc
	ended  chan error
}

func (b *bench) startMCP(t *testing.T, stdin io.Reader, stdout io.Writer, args ...string) *mcpServer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &mcpServer{stderr: &shared{}, stop: stop, ended: make(chan error, 1)}
	go func() {
		s.ended <- run(ctx, b.line(append([]string{"mcp"}, args...)), b.getenv, stdin, stdout, s.stderr)
		close(s.ended)
	}()
	t.Cleanup(func() {
		stop()
		for err := range s.ended {
			require.NoError(t, err)
		}
	})
	return s
}

func (s *mcpServer) requireEnd(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.ended:
		require.NoError(t, err)
	case <-time.After(patience):
		require.FailNow(t, "agent mcp did not end")
	}
}

func mcpClient(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// overStdio starts a server as clients do. hangUp is what they do in the end.
func (b *bench) overStdio(t *testing.T, args ...string) (server *mcpServer, session *sdk.ClientSession, hangUp func()) {
	t.Helper()
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	server = b.startMCP(t, stdin, stdout, args...)
	return server, mcpClient(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}), func() { _ = toServer.Close() }
}

func callTool(t *testing.T, session *sdk.ClientSession, name string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(t, err)
	require.NotEmpty(t, result.Content)
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

func TestMCPServesTheToolsInAFreshSession(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	server, session, hangUp := b.overStdio(t)
	require.Contains(t, session.InitializeResult().Instructions, "deleted when the connection ends")
	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	require.ElementsMatch(t, []string{
		"run_code", "run_command", "write_file", "read_file", "list_files", "submit_job", "wait_job", "cancel_job",
	}, names)
	said, isError := callTool(t, session, "run_code", map[string]any{"language": "python", "code": "print(6*7)"})
	require.False(t, isError)
	require.Contains(t, said, "42")
	_, isError = callTool(t, session, "write_file", map[string]any{"path": "a.txt", "content": "a"})
	require.False(t, isError)
	require.Len(t, b.names(t), 1)
	job := b.sessions.all()[0]
	require.True(t, job.Session.Live)
	require.Equal(t, b.names(t)[0], job.Session.Name)
	hangUp()
	server.requireEnd(t)
	require.Empty(t, b.names(t), "the session ended with its connection")
	require.Empty(t, server.stderr.String())
}

func TestMCPLeavesASessionThatHasAName(t *testing.T) {
	t.Parallel()
	b := setup(t, prints(""))
	server, session, hangUp := b.overStdio(t, "--session", "notebook", "--live=false", "--tenant", "alice")
	require.Contains(t, session.InitializeResult().Instructions, "stay for later")
	_, isError := callTool(t, session, "write_file", map[string]any{"path": "a.txt", "content": "kept"})
	require.False(t, isError)
	hangUp()
	server.requireEnd(t)
	file, err := b.store.ReadFile(t.Context(), workspace.Session{Tenant: "alice", Name: "notebook"}, "a.txt")
	require.NoError(t, err)
	require.Equal(t, "kept", string(file.Data))
}

func TestMCPCancelsWhatAClientLeaves(t *testing.T) {
	t.Parallel()
	began, canceled := make(chan struct{}, 2), make(chan struct{}, 2)
	wait := untilCanceled(began)
	b := setup(t, func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		defer func() { canceled <- struct{}{} }()
		return wait(ctx, job)
	})
	server, session, hangUp := b.overStdio(t)
	said, isError := callTool(t, session, "submit_job", map[string]any{"language": "python", "code": "while True: pass"})
	require.False(t, isError, said)
	<-began
	hangUp()
	server.requireEnd(t)
	select {
	case <-canceled:
	case <-time.After(patience):
		require.FailNow(t, "the job goes on")
	}
}

func TestMCPStartsBeforeRedisDoes(t *testing.T) {
	t.Parallel()
	b := &bench{redis: "127.0.0.1:1", env: map[string]string{}}
	server, session, hangUp := b.overStdio(t)
	said, isError := callTool(t, session, "list_files", nil)
	require.True(t, isError)
	require.Contains(t, said, "connection refused")
	require.Eventually(t, func() bool { return strings.Contains(server.stderr.String(), "connect to Redis") }, patience, 10*time.Millisecond)
	hangUp()
	server.requireEnd(t)
}

// bearer sends a token with each request.
type bearer struct{ *http.Transport }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer canary-token-0815")
	return b.Transport.RoundTrip(r)
}

func TestMCPOverHTTPWithATokenFile(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	token := b.file(t, "token", "canary-token-0815\n")
	server := b.startMCP(t, os.Stdin, io.Discard, "--http", "127.0.0.1:0", "--token-file", token)
	var url string
	require.Eventually(t, func() bool {
		url = regexp.MustCompile(`http://\S+`).FindString(server.stderr.String())
		return strings.HasSuffix(url, "/mcp")
	}, patience, 10*time.Millisecond)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Post(url, "application/json", strings.NewReader("{}")) //nolint:noctx // the server ends with the test
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	session := mcpClient(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{transport}}})
	said, isError := callTool(t, session, "run_code", map[string]any{"language": "python", "code": "print(6*7)"})
	require.False(t, isError)
	require.Contains(t, said, "42")
	require.NoError(t, session.Close())
	server.stop()
	server.requireEnd(t)
	require.NotContains(t, server.stderr.String(), "canary")
}
