package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/mcp"
)

// piped serves one client over pipes, as a program that a client starts.
type piped struct {
	session *sdk.ClientSession
	stdin   io.Closer // as the client sees it
	stop    context.CancelFunc
	ended   chan error
}

func stdio(t *testing.T, options mcp.Options) *piped {
	t.Helper()
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &piped{stdin: toServer, stop: stop, ended: make(chan error, 1)}
	go func() {
		p.ended <- mcp.New(options).Stdio(ctx, stdin, stdout)
		_ = stdout.Close()
	}()
	t.Cleanup(stop)
	p.session = connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	return p
}

func TestToolsAreListedAsTheyAre(t *testing.T) {
	t.Parallel()
	p := stdio(t, answer(agent.ToolResult{}).options())
	require.Equal(t, "v1.2.3", p.session.InitializeResult().ServerInfo.Version)
	require.Equal(t, "Use the tools.", p.session.InitializeResult().Instructions)
	listed, err := p.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 2)
	read, run := listed.Tools[0], listed.Tools[1] // the SDK sorts them
	require.Equal(t, "read_file", read.Name)
	require.True(t, read.Annotations.ReadOnlyHint)
	require.Equal(t, "run_code", run.Name)
	require.Equal(t, "Runs code.", run.Description)
	require.False(t, run.Annotations.ReadOnlyHint)
	require.False(t, *run.Annotations.OpenWorldHint)
	schema, err := json.Marshal(run.InputSchema)
	require.NoError(t, err)
	require.JSONEq(t, string(specs[0].Schema), string(schema))
}

func TestAResultIsTextThenFigures(t *testing.T) {
	t.Parallel()
	p := stdio(t, answer(agent.ToolResult{
		Text: "printed", JobID: "job-1", Images: []agent.Image{{Path: "figure-1.png", MIME: "image/png", Data: []byte("\x89PNG\xff")}},
	}).options())
	result, err := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": "1"}})
	require.NoError(t, err)
	require.False(t, result.IsError)
	require.Equal(t, "job-1", result.Meta["dev.sandloop/job_id"])
	require.Len(t, result.Content, 2)
	require.Equal(t, "printed", result.Content[0].(*sdk.TextContent).Text)
	figure := result.Content[1].(*sdk.ImageContent)
	require.Equal(t, "image/png", figure.MIMEType)
	require.Equal(t, []byte("\x89PNG\xff"), figure.Data)
	require.Equal(t, "figure-1.png", figure.Meta["dev.sandloop/path"])
}

func TestAResultWithoutTextStillHasContent(t *testing.T) {
	t.Parallel()
	p := stdio(t, answer(agent.ToolResult{}).options())
	result, err := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
	require.NoError(t, err)
	require.Empty(t, text(t, result))
}

func TestToolsGetTheArgumentsAsTheyCame(t *testing.T) {
	t.Parallel()
	w := &workspaces{do: func(_ context.Context, _ workspace, call agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		return agent.ToolResult{Text: call.Name + " " + call.Arguments, IsError: true}
	}}
	p := stdio(t, w.options())
	// The schema wants a string, and it is for the tool to say so.
	result, err := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: json.RawMessage(`{"code":1}`)})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Equal(t, `run_code {"code":1}`, text(t, result))
	for _, none := range []any{nil, map[string]any(nil), map[string]any{}} {
		result, err = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file", Arguments: none})
		require.NoError(t, err)
		require.Equal(t, `read_file {}`, text(t, result))
	}
	_, err = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "sudo"})
	require.ErrorContains(t, err, `unknown tool "sudo"`)
}

func TestAPanicIsAResult(t *testing.T) {
	t.Parallel()
	w := &workspaces{do: func(_ context.Context, _ workspace, call agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		if call.Name == "run_code" {
			panic("broken")
		}
		return agent.ToolResult{Text: "fine"}
	}}
	p := stdio(t, w.options())
	result, err := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Contains(t, text(t, result), "not your doing")
	result, err = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file"})
	require.NoError(t, err)
	require.Equal(t, "fine", text(t, result))
}

func TestAWorkspaceThatDoesNotOpenIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := answer(agent.ToolResult{Text: "fine"})
	w.problem = errors.New("Redis is down")
	p := stdio(t, w.options())
	result, err := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Contains(t, text(t, result), "Redis is down")
	result, err = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
	require.NoError(t, err)
	require.Equal(t, "fine", text(t, result))
}

func TestCallsRunSideBySideInOneWorkspace(t *testing.T) {
	t.Parallel()
	var inside atomic.Int32
	all := make(chan struct{})
	w := &workspaces{do: func(ctx context.Context, w workspace, _ agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		if inside.Add(1) == 3 {
			close(all)
		}
		select {
		case <-all:
			return agent.ToolResult{Text: "together"}
		case <-ctx.Done():
			return agent.ToolResult{Text: "alone", IsError: true}
		}
	}}
	p := stdio(t, w.options())
	results := make(chan *sdk.CallToolResult, 3)
	for range 3 {
		go func() {
			result, _ := p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"})
			results <- result
		}()
	}
	for range 3 {
		require.Equal(t, "together", text(t, receive(t, results)))
	}
	opened, _ := w.counts()
	require.Equal(t, 1, opened)
}

func TestACanceledRequestCancelsItsCallAlone(t *testing.T) {
	t.Parallel()
	w, began, canceled := endless()
	p := stdio(t, w.options())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = p.session.CallTool(ctx, &sdk.CallToolParams{Name: "run_code"}) }()
	receive(t, began)
	go func() { _, _ = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_file"}) }()
	receive(t, began)
	cancel()
	require.ErrorIs(t, receive(t, canceled), context.Canceled)
	require.Empty(t, canceled)
	p.stop() // the other one hears of the end of the server
	require.EqualError(t, receive(t, canceled), "the server shuts down")
	require.NoError(t, receive(t, p.ended))
	require.Equal(t, 1, w.closed)
}

func TestAClientThatIsGoneEndsItsCalls(t *testing.T) {
	t.Parallel()
	w, began, canceled := endless()
	p := stdio(t, w.options())
	for range 2 {
		go func() { _, _ = p.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code"}) }()
		receive(t, began)
	}
	require.NoError(t, p.stdin.Close())
	for range 2 {
		require.Error(t, receive(t, canceled))
	}
	require.NoError(t, receive(t, p.ended))
	opened, closed := w.counts()
	require.Equal(t, 1, opened)
	require.Equal(t, 1, closed, "closed before Stdio returns")
}

func TestAClientThatCallsNothingCostsNoWorkspace(t *testing.T) {
	t.Parallel()
	w := answer(agent.ToolResult{})
	p := stdio(t, w.options())
	_, err := p.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, p.stdin.Close())
	require.NoError(t, receive(t, p.ended))
	opened, _ := w.counts()
	require.Zero(t, opened)
}

func TestWhatIsNotTheProtocolEndsTheConnection(t *testing.T) {
	t.Parallel()
	stdin, toServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.New(answer(agent.ToolResult{}).options()).Stdio(t.Context(), stdin, io.Discard) }()
	_, err := io.WriteString(toServer, "print(1)\n")
	require.NoError(t, err)
	require.ErrorContains(t, receive(t, ended), "serve stdin")
}
