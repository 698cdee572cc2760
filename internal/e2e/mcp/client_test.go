package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// client is the TypeScript SDK in a process of its own.
type client struct {
	stdin io.WriteCloser

	// mu guards the requests that have no answer yet.
	mu   sync.Mutex
	next int
	open map[int]*request
}

// request is one thing that the client does.
type request struct {
	id       int
	progress chan progress
	done     chan answer
}

type progress struct {
	Progress float64 `json:"progress"`
	Message  string  `json:"message"`
}

// answer is what came of a request.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
	} `json:"error"`
}

// startClient starts the client, which connects when it is told to. Its modules are found through a link beside
// its source.
func (in *installation) startClient(t *testing.T, env []string, args ...string) *client {
	t.Helper()
	node, modules := testenv.Node(t, "package-lock.json")
	dir := t.TempDir()
	source, err := os.ReadFile("client.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "client.mjs"), source, 0o600))
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	command := exec.Command(node, append([]string{filepath.Join(dir, "client.mjs")}, args...)...) //nolint:noctx // ended in Cleanup
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	read, write, err := os.Pipe() // Wait of the process would close one of its own before all is read
	require.NoError(t, err)
	command.Stdout = write
	c := &client{stdin: stdin, open: map[int]*request{}}
	in.start(t, command, env...)
	require.NoError(t, write.Close())
	go c.read(read)
	return c
}

// read hands out answers until the client ends.
func (c *client) read(stdout io.ReadCloser) {
	defer func() { _ = stdout.Close() }()
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var said struct {
			ID       int       `json:"id"`
			Progress *progress `json:"progress"`
			answer
		}
		if json.Unmarshal(line, &said) != nil {
			continue // the request will have no answer, which its test notes
		}
		c.mu.Lock()
		r := c.open[said.ID]
		c.mu.Unlock()
		if said.Progress != nil {
			r.progress <- *said.Progress
		} else {
			r.done <- said.answer
		}
	}
}

// begin has the client do something.
func (c *client) begin(t *testing.T, do string, more map[string]any) *request {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	r := &request{id: c.next, progress: make(chan progress, 1000), done: make(chan answer, 1)}
	c.open[r.id] = r
	command := map[string]any{"id": r.id, "do": do}
	for key, value := range more {
		command[key] = value
	}
	line, err := json.Marshal(command)
	require.NoError(t, err)
	_, err = c.stdin.Write(append(line, '\n'))
	require.NoError(t, err)
	return r
}

func (r *request) wait(t *testing.T) answer {
	t.Helper()
	return receive(t, r.done)
}

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(bound):
		require.FailNow(t, "nothing came", "within %s", bound)
	}
	return value
}

// do has the client do something that succeeds, and reads what came of it.
func (c *client) do(t *testing.T, what string, more map[string]any, into any) {
	t.Helper()
	got := c.begin(t, what, more).wait(t)
	require.Nil(t, got.Error, "%s %v", what, more)
	if into != nil {
		require.NoError(t, json.Unmarshal(got.Result, into))
	}
}

// result is that of a tool.
type result struct {
	IsError bool           `json:"isError"`
	Meta    map[string]any `json:"_meta"`
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	} `json:"content"`
}

func (c *client) call(t *testing.T, tool string, arguments map[string]any) (r result) {
	t.Helper()
	c.do(t, "call", map[string]any{"name": tool, "arguments": arguments}, &r)
	require.NotEmpty(t, r.Content)
	require.Equal(t, "text", r.Content[0].Type)
	return r
}

func (c *client) python(t *testing.T, code string) result {
	t.Helper()
	return c.call(t, "run_code", map[string]any{"language": "python", "code": code})
}

// close ends the connection as a client that is done does.
func (c *client) close(t *testing.T) {
	t.Helper()
	c.do(t, "close", nil, nil)
}
