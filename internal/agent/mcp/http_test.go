package mcp_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/mcp"
)

// secret is a token that nothing but the client's requests may hold.
const secret = "canary-4f9b1c77d2"

// bearing sends a token with each request.
type bearing struct {
	token string
	next  *http.Transport
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// client is an HTTP client of its own, which leaves nothing open.
func client(t *testing.T, token string) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: bearing{token, transport}, Timeout: bound}
}

// over connects over HTTP. The caller's options decide about progress.
func over(t *testing.T, s *serving, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return connect(t, &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: client(t, "")}, options)
}

func TestEveryConnectionHasAWorkspaceOfItsOwn(t *testing.T) {
	t.Parallel()
	w := &workspaces{do: func(_ context.Context, w workspace, _ agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		return agent.ToolResult{Text: strings.Repeat("I", w.number)}
	}}
	s := serve(t, w.options(), nil)
	first, second := over(t, s, nil), over(t, s, nil)
	for range 2 {
		result, err := first.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
		require.NoError(t, err)
		require.Equal(t, "I", text(t, result))
		result, err = second.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
		require.NoError(t, err)
		require.Equal(t, "II", text(t, result))
	}
	require.NoError(t, first.Close())
	w.requireClosed(t, 1)
	s.stop()
	require.NoError(t, receive(t, s.ended))
	opened, closed := w.counts()
	require.Equal(t, 2, opened)
	require.Equal(t, 2, closed)
}

func TestProgressComesOnlyToWhoAsks(t *testing.T) {
	t.Parallel()
	w := &workspaces{do: func(_ context.Context, _ workspace, _ agent.ToolCall, progress func(agent.Progress)) agent.ToolResult {
		if progress == nil {
			return agent.ToolResult{Text: "nobody asked"}
		}
		progress(agent.Progress{State: "queued", JobID: "7"})
		progress(agent.Progress{State: "running", JobID: "7"})
		return agent.ToolResult{Text: "done"}
	}}
	s := serve(t, w.options(), nil)
	came := make(chan *sdk.ProgressNotificationParams, 10)
	session := over(t, s, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { came <- r.Params }})
	params := &sdk.CallToolParams{Name: "run_code"}
	result, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "nobody asked", text(t, result))
	params.SetProgressToken("mine")
	result, err = session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "done", text(t, result))
	for i, message := range []string{"queued (job 7)", "running (job 7)"} {
		p := receive(t, came)
		require.Equal(t, "mine", p.ProgressToken)
		require.Equal(t, message, p.Message)
		require.InDelta(t, i+1, p.Progress, 0)
	}
}

const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{}}}`

// ongoing is a call over HTTP that does not end by itself.
type ongoing struct {
	*serving
	w        *workspaces
	header   http.Header
	drop     context.CancelFunc // breaks the request of the call
	canceled chan error
	answered chan string
}

func begin(t *testing.T, idle time.Duration) *ongoing {
	t.Helper()
	w, began, canceled := endless()
	options := w.options()
	options.IdleTime = idle
	o := &ongoing{serving: serve(t, options, nil), w: w, canceled: canceled, answered: make(chan string, 1)}
	o.header = initialize(t, o.serving)
	ctx, drop := context.WithCancel(t.Context())
	o.drop = drop
	t.Cleanup(drop)
	go func() {
		_, _, body := post(ctx, t, o.serving, o.header, call)
		o.answered <- body
	}()
	receive(t, began)
	return o
}

func TestANotificationCancelsACallAlone(t *testing.T) {
	t.Parallel()
	o := begin(t, 0)
	status, _, _ := post(t.Context(), t, o.serving, o.header, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	require.Equal(t, http.StatusAccepted, status)
	require.ErrorIs(t, receive(t, o.canceled), context.Canceled)
	receive(t, o.answered)
	_, closed := o.w.counts()
	require.Zero(t, closed)
	status, _, _ = post(t.Context(), t, o.serving, o.header, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	require.Equal(t, http.StatusOK, status, "the connection goes on")
}

func TestTheEndOfASessionEndsItsCalls(t *testing.T) {
	t.Parallel()
	o := begin(t, 0)
	remove, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, o.url, nil)
	require.NoError(t, err)
	remove.Header = o.header
	response, err := client(t, "").Do(remove)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNoContent, response.StatusCode)
	require.EqualError(t, receive(t, o.canceled), "the client is gone")
	o.w.requireClosed(t, 1)
}

func TestTheEndOfTheServerEndsCallsAndAnswersThem(t *testing.T) {
	t.Parallel()
	o := begin(t, 0)
	o.stop()
	require.EqualError(t, receive(t, o.canceled), "the server shuts down")
	require.Contains(t, receive(t, o.answered), "The job was canceled.")
	require.NoError(t, receive(t, o.ended))
	_, closed := o.w.counts()
	require.Equal(t, 1, closed, "before HTTP returns")
}

func TestTheDeathOfAClientEndsItsCallsAndThenItsSession(t *testing.T) {
	t.Parallel()
	o := begin(t, 50*time.Millisecond)
	o.drop()
	require.EqualError(t, receive(t, o.canceled), "the client is gone")
	o.w.requireClosed(t, 1)
	status, _, _ := post(t.Context(), t, o.serving, o.header, call)
	require.Equal(t, http.StatusNotFound, status, "as the protocol has it for a session that is no more")
}

func TestASessionWithACallIsNotIdle(t *testing.T) {
	t.Parallel()
	w := &workspaces{do: func(ctx context.Context, _ workspace, _ agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		select {
		case <-ctx.Done():
			return agent.ToolResult{Text: "canceled"}
		case <-time.After(300 * time.Millisecond):
			return agent.ToolResult{Text: "whole"}
		}
	}}
	options := w.options()
	options.IdleTime = 100 * time.Millisecond
	s := serve(t, options, nil)
	_, _, body := post(t.Context(), t, s, initialize(t, s), call)
	require.Contains(t, body, "whole")
}

// initialize begins a session by hand and returns the headers that its further requests need.
func initialize(t *testing.T, s *serving) http.Header {
	t.Helper()
	header := http.Header{}
	status, answer, _ := post(t.Context(), t, s, header, greeting)
	require.Equal(t, http.StatusOK, status)
	header.Set("Mcp-Session-Id", answer.Get("Mcp-Session-Id"))
	require.NotEmpty(t, header.Get("Mcp-Session-Id"))
	header.Set("Mcp-Protocol-Version", "2025-06-18")
	status, _, _ = post(t.Context(), t, s, header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(t, http.StatusAccepted, status)
	return header
}

// post sends a message and reads the answer to its end. The status is 0 if there was none.
func post(ctx context.Context, t *testing.T, s *serving, header http.Header, message string) (status int, answer http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(message))
	if err != nil {
		return 0, nil, ""
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := client(t, "").Do(request)
	if err != nil {
		return 0, nil, ""
	}
	data, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return response.StatusCode, response.Header, string(data)
}

func TestOnlyWhoBearsTheTokenIsServed(t *testing.T) {
	t.Parallel()
	token, err := mcp.ParseToken(secret + "\n")
	require.NoError(t, err)
	var log bytes.Buffer
	w := answer(agent.ToolResult{Text: "fine"})
	options := w.options()
	options.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := serve(t, options, token)
	for _, wrong := range []string{"", "wrong", secret[1:], secret + "x", strings.ToUpper(secret)} {
		_, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: client(t, wrong)}, nil)
		require.ErrorContains(t, err, "Unauthorized", "%q", wrong)
	}
	session := connect(t, &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: client(t, secret)}, nil)
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
	require.NoError(t, err)
	require.Equal(t, "fine", text(t, result))
	require.NoError(t, session.Close())
	s.stop()
	require.NoError(t, receive(t, s.ended))
	require.Contains(t, log.String(), "request refused")
	require.NotContains(t, log.String(), "canary")
	require.NotContains(t, log.String(), "wrong")
}

func TestOthersAreServedWithATokenOnly(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "0.0.0.0:0")
	require.NoError(t, err)
	err = mcp.New(answer(agent.ToolResult{}).options()).HTTP(t.Context(), listener, nil)
	require.ErrorContains(t, err, "needs a token")
	_, err = listener.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestABrokenListenerIsAnError(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorIs(t, mcp.New(answer(agent.ToolResult{}).options()).HTTP(t.Context(), listener, nil), net.ErrClosed)
}

func TestWhereRequestsMayComeFrom(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(agent.ToolResult{}).options(), nil)
	_, port, err := net.SplitHostPort(s.host)
	require.NoError(t, err)
	for _, c := range []struct {
		name, host, origin, site string
		status                   int
	}{
		{name: "no browser", status: http.StatusOK},
		{name: "by name", host: "localhost:" + port, status: http.StatusOK},
		{name: "by IPv6", host: "[::1]:" + port, status: http.StatusOK},
		{name: "without a port", host: "LOCALHOST", status: http.StatusOK},
		{name: "a name that was made to point here", host: "evil.example:" + port, status: http.StatusForbidden},
		{name: "a name that begins well", host: "localhost.evil.example", status: http.StatusForbidden},
		{name: "another address", host: "192.0.2.1:" + port, status: http.StatusForbidden},
		{name: "a page of another site", origin: "https://evil.example", status: http.StatusForbidden},
		{name: "a page of another server here", origin: "http://localhost:3000", status: http.StatusForbidden},
		{name: "a page without an origin", origin: "null", status: http.StatusForbidden},
		{name: "a page of this server", origin: "http://" + s.host, status: http.StatusOK},
		{name: "a form of another site", site: "cross-site", status: http.StatusForbidden},
		{name: "a page of this site", site: "same-origin", status: http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := hello(t, s, strings.NewReader(greeting))
			request.Host = c.host
			for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
				if value != "" {
					request.Header.Set(name, value)
				}
			}
			response, err := client(t, "").Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, c.status, response.StatusCode)
		})
	}
}

const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}`

func hello(t *testing.T, s *serving, body io.Reader) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	return request
}

func TestALargeRequestIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(agent.ToolResult{}).options(), nil)
	// Without a length, so that the bytes themselves are counted.
	body := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"`), io.LimitReader(zeros{}, 16<<20), strings.NewReader(`"}}}`))
	response, err := client(t, "").Do(hello(t, s, body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("0"), len(p)))
	return len(p), nil
}

func TestOtherPathsAreNotServed(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(agent.ToolResult{}).options(), nil)
	s.url = strings.TrimSuffix(s.url, mcp.Path) + "/"
	response, err := client(t, "").Do(hello(t, s, strings.NewReader(greeting)))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

func TestAClientCannotNumberItsRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(agent.ToolResult{Text: "fine"}).options(), nil)
	header := initialize(t, s)
	header["Sandloop-Request"] = []string{"", "other"}
	status, _, body := post(t.Context(), t, s, header, call)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "fine")
}
