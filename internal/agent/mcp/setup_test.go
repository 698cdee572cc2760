package mcp_test

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/mcp"
)

// bound is how long anything here may take on a busy machine.
const bound = 30 * time.Second

var specs = []agent.ToolSpec{
	{Name: "run_code", Description: "Runs code.", Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`)},
	{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object"}`)},
}

// workspace is one connection's tools; do is what a call does.
type workspace struct {
	number int
	do     func(ctx context.Context, call agent.ToolCall, progress func(agent.Progress)) agent.ToolResult
}

func (w workspace) Specs() []agent.ToolSpec { return specs }

func (w workspace) Call(ctx context.Context, call agent.ToolCall, progress func(agent.Progress)) agent.ToolResult {
	return w.do(ctx, call, progress)
}

// workspaces counts what connections open and close.
type workspaces struct {
	do func(ctx context.Context, w workspace, call agent.ToolCall, progress func(agent.Progress)) agent.ToolResult

	mu             sync.Mutex
	opened, closed int
	problem        error // of the next Open
}

func (w *workspaces) open(context.Context) (agent.Tools, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.problem; err != nil {
		w.problem = nil
		return nil, nil, err
	}
	w.opened++
	mine := workspace{number: w.opened}
	mine.do = func(ctx context.Context, call agent.ToolCall, progress func(agent.Progress)) agent.ToolResult {
		return w.do(ctx, mine, call, progress)
	}
	return mine, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.closed++
	}, nil
}

func (w *workspaces) counts() (opened, closed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened, w.closed
}

func (w *workspaces) requireClosed(t *testing.T, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, closed := w.counts()
		return closed == want
	}, bound, 5*time.Millisecond)
}

func (w *workspaces) options() mcp.Options {
	return mcp.Options{Version: "v1.2.3", Instructions: "Use the tools.", Specs: specs, Open: w.open}
}

// answer makes workspaces whose calls end at once.
func answer(result agent.ToolResult) *workspaces {
	return &workspaces{do: func(context.Context, workspace, agent.ToolCall, func(agent.Progress)) agent.ToolResult { return result }}
}

// endless makes workspaces whose calls say that they began and end with their context; its cause comes through canceled.
func endless() (w *workspaces, began chan string, canceled chan error) {
	began, canceled = make(chan string, 100), make(chan error, 100)
	return &workspaces{do: func(ctx context.Context, _ workspace, call agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		began <- call.Arguments
		<-ctx.Done()
		canceled <- context.Cause(ctx)
		<-time.After(50 * time.Millisecond) // as a job takes some time to end
		return agent.ToolResult{Text: "The job was canceled.", IsError: true}
	}}, began, canceled
}

// receive takes what a channel must bring.
func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(bound):
		require.FailNow(t, "nothing came", "within %s", bound)
	}
	return value
}

// serving is a server over HTTP.
type serving struct {
	url, host string
	stop      context.CancelFunc
	ended     chan error
}

func serve(t *testing.T, options mcp.Options, token *mcp.Token) *serving {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s := &serving{url: "http://" + listener.Addr().String() + mcp.Path, host: listener.Addr().String(), stop: stop, ended: make(chan error, 1)}
	go func() {
		s.ended <- mcp.New(options).HTTP(ctx, listener, token)
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

// connect makes a client session and closes it when the test is over.
func connect(t *testing.T, transport sdk.Transport, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func text(t *testing.T, result *sdk.CallToolResult) string {
	t.Helper()
	require.Len(t, result.Content, 1)
	require.IsType(t, &sdk.TextContent{}, result.Content[0])
	return result.Content[0].(*sdk.TextContent).Text
}
