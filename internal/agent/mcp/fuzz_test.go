package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/mcp"
)

// FuzzStdio has a client say anything: the server ends with its input, closes every tool that it opened, and answers in JSON alone.
func FuzzStdio(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	f.Add(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1"},"_meta":{"progressToken":[]}}}`+"\n", true)
	f.Add(hello+`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"\ud800","arguments":[]}}`+"\n", true)
	f.Add(`{"jsonrpc":"2.0","id":{},"method":"tools/list","params":null}`+"\n", false)
	f.Add(`[{"jsonrpc":"2.0"},1,null]`+"\n{}\n{", true)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n", true)
	f.Fuzz(func(t *testing.T, said string, greet bool) {
		if greet && !strings.HasPrefix(said, hello) {
			said = hello + said
		}
		w := &workspaces{do: func(context.Context, workspace, agent.ToolCall, func(agent.Progress)) agent.ToolResult {
			return agent.ToolResult{Text: "done"}
		}}
		var answers bytes.Buffer
		_ = mcp.New(w.options()).Stdio(t.Context(), io.NopCloser(strings.NewReader(said)), &answers) // what is no protocol ends it
		opened, closed := w.counts()
		require.Equal(t, opened, closed)
		decoder := json.NewDecoder(&answers)
		for {
			var answer map[string]any
			err := decoder.Decode(&answer)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.Equal(t, "2.0", answer["jsonrpc"])
		}
	})
}
