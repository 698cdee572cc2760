package mcp_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

const token = "canary-0123456789abcdef"

func TestTheOfficialClientUsesTheTools(t *testing.T) {
	in := install(t)
	t.Run("over stdio", func(t *testing.T) {
		c := in.startClient(t, nil, "stdio", filepath.Join(bin, "agent"), "mcp")
		use(t, in, c)
	})
	url := in.serve(t)
	t.Run("over HTTP with a token", func(t *testing.T) {
		c := in.startClient(t, []string{"TOKEN=" + token}, "http", url)
		use(t, in, c)
	})
	t.Run("two at a time over HTTP", func(t *testing.T) { two(t, in, url) })
	t.Run("over HTTP with a wrong token", func(t *testing.T) {
		c := in.startClient(t, []string{"TOKEN=" + token + "x"}, "http", url)
		got := c.begin(t, "connect", nil).wait(t)
		require.NotNil(t, got.Error)
		require.Equal(t, http.StatusUnauthorized, got.Error.Code, got.Error.Message)
	})
	t.Run("from a page of another site", func(t *testing.T) { refused(t, url) })
}

// serve starts agent mcp over HTTP and returns its URL.
func (in *installation) serve(t *testing.T) string {
	t.Helper()
	server := in.start(t, exec.Command(filepath.Join(bin, "agent"), "mcp", "--http", "127.0.0.1:0"), "SANDLOOP_MCP_TOKEN="+token) //nolint:noctx // ended in Cleanup
	var url string
	require.Eventually(t, func() bool {
		url = regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(server.stderr.String())
		return url != ""
	}, bound, 20*time.Millisecond)
	t.Cleanup(func() {
		server.end(t)
		require.Zero(t, server.ProcessState.ExitCode())
		require.NotContains(t, server.stderr.String(), "canary")
	})
	return url
}

// use does with a connection what an agent does.
func use(t *testing.T, in *installation, c *client) {
	t.Helper()
	var connected struct {
		Server struct {
			Name string `json:"name"`
		} `json:"server"`
		Instructions string `json:"instructions"`
	}
	c.do(t, "connect", nil, &connected)
	require.Equal(t, "sandloop", connected.Server.Name)
	require.Contains(t, connected.Instructions, "/workspace")
	t.Run("lists tools", func(t *testing.T) { listTools(t, c) })
	t.Run("runs code whose variables and files persist", func(t *testing.T) {
		require.Equal(t, "42", c.python(t, "x = 6\nprint(x * 7)").Content[0].Text)
		require.Contains(t, c.python(t, "x + 1").Content[0].Text, "7", "the value of the last expression")
		require.False(t, c.call(t, "write_file", map[string]any{"path": "in.txt", "content": "of the client"}).IsError)
		require.Equal(t, "of the client", c.python(t, "print(open('in.txt').read())").Content[0].Text)
	})
	t.Run("sees a traceback", func(t *testing.T) {
		got := c.python(t, "def f():\n    return 1 / 0\nf()")
		require.False(t, got.IsError, "the code's own failure is a result")
		require.Contains(t, got.Content[0].Text, "ZeroDivisionError")
	})
	t.Run("is told what is wrong with arguments", func(t *testing.T) {
		got := c.call(t, "run_code", map[string]any{"language": "python", "code": 42})
		require.True(t, got.IsError)
		require.Contains(t, got.Content[0].Text, "code")
		require.Contains(t, got.Content[0].Text, "string")
	})
	t.Run("hears of progress", func(t *testing.T) { hearProgress(t, c) })
	t.Run("fetches a figure", func(t *testing.T) { fetchFigure(t, in, c) })
	t.Run("cancels a call", func(t *testing.T) { cancel(t, in, c) })
	t.Run("runs out of memory", func(t *testing.T) {
		got := c.python(t, "big = bytearray(800 * 1024 * 1024)\nfor i in range(0, len(big), 4096): big[i] = 1")
		require.Contains(t, got.Content[0].Text, "out of memory")
		require.Contains(t, got.Content[0].Text, "256 MiB")
		require.Contains(t, c.python(t, "print(open('in.txt').read())").Content[0].Text, "of the client", "the files are still there")
	})
	c.close(t)
	require.Eventually(t, func() bool { return in.enqueue(t, "session", "list", "--json") == "" }, bound, 100*time.Millisecond)
}

func listTools(t *testing.T, c *client) {
	t.Helper()
	var listed struct {
		Tools []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			InputSchema struct {
				Type       string         `json:"type"`
				Properties map[string]any `json:"properties"`
				Required   []string       `json:"required"`
			} `json:"inputSchema"`
		} `json:"tools"`
	}
	c.do(t, "list", nil, &listed)
	found := map[string]bool{}
	for _, tool := range listed.Tools {
		found[tool.Name] = true
		require.NotEmpty(t, tool.Description)
		require.Equal(t, "object", tool.InputSchema.Type)
		if tool.Name == "run_code" {
			require.ElementsMatch(t, []string{"language", "code"}, tool.InputSchema.Required)
			require.Contains(t, tool.InputSchema.Properties, "timeout")
		}
	}
	for _, name := range []string{"run_code", "run_command", "write_file", "read_file", "list_files", "submit_job", "wait_job"} {
		require.True(t, found[name], name)
	}
}

func hearProgress(t *testing.T, c *client) {
	t.Helper()
	r := c.begin(t, "call", map[string]any{"name": "run_code", "progress": true, "arguments": map[string]any{
		"language": "python", "code": "import time\nfor i in range(3):\n    print('step', i, flush=True)\n    time.sleep(0.5)",
	}})
	got := r.wait(t)
	require.Nil(t, got.Error)
	close(r.progress)
	last, all := 0.0, ""
	for p := range r.progress {
		require.Greater(t, p.Progress, last)
		last = p.Progress
		all += p.Message + "\n"
	}
	require.Regexp(t, `(?s)queued \(job \w+\).*step 0.*step 2`, all)
}

func fetchFigure(t *testing.T, in *installation, c *client) {
	t.Helper()
	require.Equal(t, testenv.FullImage(t), in.image)
	got := c.python(t, "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()")
	require.False(t, got.IsError, got.Content[0].Text)
	require.Len(t, got.Content, 2, got.Content[0].Text)
	figure := got.Content[1]
	require.Equal(t, "image", figure.Type)
	require.Equal(t, "image/png", figure.MIMEType)
	require.True(t, bytes.HasPrefix(figure.Data, []byte("\x89PNG\r\n\x1a\n")))
}

var jobID = regexp.MustCompile(`^running \(job (\w+)\)`)

// cancel aborts a call that runs and sees that the job has ended soon after.
func cancel(t *testing.T, in *installation, c *client) {
	t.Helper()
	r := c.begin(t, "call", map[string]any{"name": "run_code", "progress": true, "arguments": map[string]any{
		"language": "python", "code": "import time\nprint('running', flush=True)\ntime.sleep(600)", "timeout": 300,
	}})
	job := ""
	for job == "" {
		if found := jobID.FindStringSubmatch(receive(t, r.progress).Message); found != nil {
			job = found[1]
		}
	}
	aborted := time.Now()
	c.do(t, "cancel", map[string]any{"call": r.id}, nil)
	require.NotNil(t, r.wait(t).Error)
	var record struct {
		FinishedAt time.Time `json:"finished_at"`
		Result     struct {
			Outcome string `json:"outcome"`
		} `json:"result"`
	}
	out, _ := in.tryEnqueue(t, "wait", "--json", job) // a job that was canceled is no success
	require.NoError(t, json.Unmarshal([]byte(out), &record))
	require.Equal(t, "canceled", record.Result.Outcome)
	took := record.FinishedAt.Sub(aborted)
	t.Logf("the job had ended %s after the client canceled it", took.Round(time.Millisecond))
	require.Less(t, took, 5*time.Second) // 50 ms where nothing else runs
}

// two connections do not see each other's files and variables.
func two(t *testing.T, in *installation, url string) {
	t.Helper()
	first := in.startClient(t, []string{"TOKEN=" + token}, "http", url)
	second := in.startClient(t, []string{"TOKEN=" + token}, "http", url)
	first.do(t, "connect", nil, nil)
	second.do(t, "connect", nil, nil)
	first.python(t, "mine = 1\nopen('mine.txt', 'w').write('1')")
	require.Contains(t, second.python(t, "import os\nprint('mine' in globals(), os.listdir())").Content[0].Text, "False []")
	require.Contains(t, first.python(t, "print('mine' in globals(), os.listdir())").Content[0].Text, "NameError", "nor what the other imported")
	first.close(t)
	second.close(t)
}

func refused(t *testing.T, url string) {
	t.Helper()
	for name, change := range map[string]func(*http.Request){
		"a foreign origin":               func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a name that points here":        func(r *http.Request) { r.Host = "evil.example" },
		"a page of another server here":  func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") },
		"a form of a page, whose origin": func(r *http.Request) { r.Header.Set("Origin", "null") },
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		change(request)
		transport := &http.Transport{}
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		transport.CloseIdleConnections()
		require.Equal(t, http.StatusForbidden, response.StatusCode, name)
	}
}

func TestTheLockFileNamesNoRegistry(t *testing.T) {
	content, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(content), `"resolved"`)
	require.NotContains(t, string(content), "registry")
	require.Contains(t, string(content), `"integrity": "sha512-`)
}
