package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	beginning = `{"at":"2026-01-02T03:00:00Z","kind":"begun","bound":3}
{"at":"2026-01-02T03:00:01Z","kind":"planned","job":"a","want":{"work":"ok","outcome":"ok","stdout":"hi","total":2}}
{"at":"2026-01-02T03:00:01Z","kind":"accepted","job":"a"}
`
	result = `{"at":"2026-01-02T03:00:09Z","kind":"final","job":"a","got":{"outcome":"ok","exit_code":0,"stdout":"hi","total":2,"print":"p",` +
		`"submitted":"2026-01-02T03:00:01Z","finished":"2026-01-02T03:00:03Z","attempts":[{"number":1,"worker":"w",` +
		`"started":"2026-01-02T03:00:02Z","ended":"2026-01-02T03:00:03Z"}]}}
`
	ending = `{"at":"2026-01-02T03:00:10Z","kind":"ended"}
`
)

func TestTheExitCodeTellsWhetherEveryPromiseWasKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		history string
		code    int
		stdout  string
		stderr  string
	}{
		"kept":     {beginning + result + ending, 0, "every promise was kept\n", ""},
		"not kept": {beginning + ending, 1, "\t3: {\"at\":\"2026-01-02T03:00:01Z\",\"kind\":\"accepted\",\"job\":\"a\"}\n1 promises were not kept\n", ""},
		"no JSON":  {"what\n", 2, "", "read history: line 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "history.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(test.history), 0o600))
			var stdout, stderr strings.Builder
			require.Equal(t, test.code, run([]string{path}, &stdout, &stderr), stdout.String())
			require.Contains(t, stdout.String(), test.stdout)
			require.Contains(t, stderr.String(), test.stderr)
		})
	}
	require.Equal(t, 2, run(nil, &strings.Builder{}, &strings.Builder{}))
}
