package mcp_test

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

func TestACallIsInTheTraceThatItsClientNames(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	heard := make(chan string, 1)
	w := &workspaces{do: func(ctx context.Context, _ workspace, _ agent.ToolCall, _ func(agent.Progress)) agent.ToolResult {
		heard <- spans.Traceparent(ctx)
		return agent.ToolResult{Text: "done"}
	}}
	s := serve(t, w.options(), nil)
	session := connect(t, &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: client(t, "")}, nil)
	for _, test := range []struct {
		given any
		want  string
	}{{parent, parent}, {nil, ""}, {"hello", ""}, {7, ""}} {
		params := &sdk.CallToolParams{Name: "read_file", Arguments: map[string]any{}}
		if test.given != nil {
			params.Meta = sdk.Meta{"traceparent": test.given}
		}
		_, err := session.CallTool(t.Context(), params)
		require.NoError(t, err)
		require.Equal(t, test.want, receive(t, heard))
	}
}
