package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goJudgeCommand is a command of a request to go-judge's POST /run, as its README describes it. Times
// are in nanoseconds, memory in bytes.
type goJudgeCommand struct {
	Args          []string         `json:"args"`
	Env           []string         `json:"env"`
	Files         []map[string]any `json:"files"`
	CPULimit      int64            `json:"cpuLimit"`
	ClockLimit    int64            `json:"clockLimit"`
	MemoryLimit   int64            `json:"memoryLimit"`
	ProcLimit     int              `json:"procLimit"`
	CopyIn        map[string]any   `json:"copyIn"`
	CopyOutCached []string         `json:"copyOutCached,omitempty"`
}

type goJudgeResult struct {
	Status  string            `json:"status"`
	Files   map[string]string `json:"files"`
	FileIDs map[string]string `json:"fileIds"`
}

// goJudge has a go-judge server compile and run a program, with limits like ours.
func goJudge(t testing.TB, url string, s submission) {
	command := func(copyIn map[string]any, stdin string, argv ...string) goJudgeCommand {
		return goJudgeCommand{
			Args: argv, Env: []string{"PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"},
			Files:    []map[string]any{{"content": stdin}, {"name": "stdout", "max": 1 << 20}, {"name": "stderr", "max": 1 << 20}},
			CPULimit: int64(10 * time.Second), ClockLimit: int64(110 * time.Second), MemoryLimit: 256 << 20, ProcLimit: 64, CopyIn: copyIn,
		}
	}
	source := map[string]any{"content": s.source}
	run := command(map[string]any{"main.py": source}, s.stdin(), "/usr/bin/python3", "main.py")
	if s.language == "c" {
		compile := command(map[string]any{"main.c": source}, "", "/usr/bin/gcc", "-std=gnu17", "-O2", "-o", "main", "main.c", "-lm")
		compile.CopyOutCached = []string{"main"}
		id := goJudgePost(t, url, compile).FileIDs["main"]
		defer goJudgeDelete(t, url, id)
		run = command(map[string]any{"main": map[string]any{"fileId": id}}, s.stdin(), "main")
	}
	require.Equal(t, s.expected(), goJudgePost(t, url, run).Files["stdout"])
}

func goJudgePost(t testing.TB, url string, command goJudgeCommand) goJudgeResult {
	body, err := json.Marshal(map[string]any{"cmd": []goJudgeCommand{command}})
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(url, "/")+"/run", bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var results []goJudgeResult
	require.NoError(t, json.NewDecoder(response.Body).Decode(&results))
	require.Len(t, results, 1)
	require.Equal(t, "Accepted", results[0].Status)
	return results[0]
}

func goJudgeDelete(t testing.TB, url, id string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, strings.TrimSuffix(url, "/")+"/file/"+id, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

// TestGoJudgeClientSpeaksItsProtocol holds the benchmark's client to the shape of go-judge's requests and answers.
func TestGoJudgeClientSpeaksItsProtocol(t *testing.T) {
	t.Parallel()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodDelete {
			return
		}
		var request struct {
			Cmd []goJudgeCommand `json:"cmd"`
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || len(request.Cmd) != 1 {
			http.Error(w, "not a request", http.StatusBadRequest)
			return
		}
		if len(request.Cmd[0].CopyOutCached) > 0 {
			_, _ = w.Write([]byte(`[{"status":"Accepted","exitStatus":0,"files":{"stderr":""},"fileIds":{"main":"ABC"}}]`))
			return
		}
		_, _ = w.Write([]byte(`[{"status":"Accepted","exitStatus":0,"files":{"stdout":"22\n"}}]`))
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	goJudge(t, server.URL+"/", submission{3, "c", "int main"})
	require.Equal(t, []string{"POST /run", "POST /run", "DELETE /file/ABC"}, seen)
}
