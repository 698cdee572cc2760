package problem_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/grade/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files is a package in memory, by path.
type files map[string]string

// with returns f with others laid over it; an empty text removes a file.
func (f files) with(others files) files {
	merged := files{}
	for _, layer := range []files{f, others} {
		for name, text := range layer {
			merged[name] = text
			if text == "" {
				delete(merged, name)
			}
		}
	}
	return merged
}

func (f files) fs() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range f {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return tree
}

// legacyFiles and currentFiles are the least that a package can be, without any warning.
var (
	legacyFiles = files{
		"problem.yaml":                "name: Sum\n",
		"data/secret/1.in":            "1 2\n",
		"data/secret/1.ans":           "3\n",
		"submissions/accepted/sum.py": "print(sum(map(int, input().split())))\n",
	}
	currentFiles = legacyFiles.with(files{
		"problem.yaml": "problem_format_version: 2025-09\nname: Sum\nuuid: 5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e\n",
	})
)

func load(t testing.TB, f files) *problem.Problem {
	t.Helper()
	loaded, err := problem.LoadFS(f.fs(), "sum")
	require.NoError(t, err)
	return loaded
}

// issues loads a package that is at fault and returns what is said about it.
func issues(t testing.TB, f files) []string {
	t.Helper()
	_, err := problem.LoadFS(f.fs(), "sum")
	var invalid *problem.Invalid
	require.ErrorAs(t, err, &invalid)
	var texts []string
	for _, issue := range invalid.Issues {
		texts = append(texts, issue.String())
	}
	return texts
}

func warnings(p *problem.Problem) []string {
	var texts []string
	for _, issue := range p.Warnings {
		texts = append(texts, issue.String())
	}
	return texts
}

func testNames(p *problem.Problem) []string {
	var names []string
	for _, test := range p.Tests {
		names = append(names, test.Name)
	}
	return names
}

func write(t testing.TB, dir string, f files) {
	t.Helper()
	require.NoError(t, os.CopyFS(dir, f.fs()))
}

func number(value float64) *float64 { return &value }
