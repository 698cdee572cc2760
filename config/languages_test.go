package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// overridden returns the table with content laid over it as languages_file, and the file's name.
func overridden(t *testing.T, content string) (*sandbox.Languages, string, error) {
	t.Helper()
	c := Default()
	c.LanguagesFile = filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(c.LanguagesFile, []byte(content), 0o600))
	languages, err := c.Languages()
	return languages, c.LanguagesFile, err
}

func TestTheBuiltInLanguages(t *testing.T) {
	t.Parallel()
	languages, err := Default().Languages()
	require.NoError(t, err)
	require.Contains(t, languages.Names(), "python")
	for _, row := range languages.All() {
		require.NotEmpty(t, row.CheckSource, row.Name)
		require.NotEmpty(t, row.Version, row.Name)
		require.NotEmpty(t, row.Extensions, row.Name)
	}
}

func TestARowIsOverriddenFieldByField(t *testing.T) {
	t.Parallel()
	builtIn, err := Default().Languages()
	require.NoError(t, err)
	want, err := builtIn.Lookup("python")
	require.NoError(t, err)

	languages, _, err := overridden(t, "python: {image: \"python:3.13-slim\", env: {MINE: \"1\"}, limit_floors: {pids: 7}}\n")
	require.NoError(t, err)
	got, err := languages.Lookup("python")
	require.NoError(t, err)
	require.Equal(t, "python:3.13-slim", got.Image)
	require.Equal(t, "1", got.Env["MINE"])
	require.Len(t, got.Env, len(want.Env)+1)
	require.Equal(t, 7, got.Floors.PIDs)
	require.Equal(t, want.Run, got.Run)
	require.Equal(t, want.Aliases, got.Aliases)
	require.Equal(t, want.CheckSource, got.CheckSource)
	require.Equal(t, want.Floors.Memory, got.Floors.Memory)
}

func TestAShorterListReplacesALongerOne(t *testing.T) {
	t.Parallel()
	languages, _, err := overridden(t, "python: {aliases: [snake], run: [pypy]}\n")
	require.NoError(t, err)
	row, err := languages.Lookup("snake")
	require.NoError(t, err)
	require.Equal(t, []string{"snake"}, row.Aliases)
	require.Equal(t, []string{"pypy"}, row.Run)
}

func TestANewRow(t *testing.T) {
	t.Parallel()
	languages, _, err := overridden(t, `
zig:
  extensions: [.zig]
  image: ziglang/zig
  file: main.zig
  compile: [zig, build-exe, "{file}"]
  run: [./main]
  heap_fraction: 0.5
  limit_floors: {memory: 512MiB, cpus: 1, compile_wall: 1m}
`)
	require.NoError(t, err)
	row, err := languages.Lookup("zig")
	require.NoError(t, err)
	require.Equal(t, sandbox.Floors{Memory: 536870912, CPUs: 1, CompileTime: time.Minute}, row.Floors)
	require.InDelta(t, 0.5, row.HeapFraction, 0)
	require.Contains(t, languages.Names(), "python")
}

func TestWhatALanguagesFileMustNotHold(t *testing.T) {
	t.Parallel()
	for content, wants := range map[string][]string{
		"python: {imagee: x}":                                 {"python", "imagee: there is no such key"},
		"python: {limit_floors: {memry: 1MiB}}":               {"python", "limit_floors.memry: there is no such key"},
		"python: {env: {A: 1}}":                               {"python", "put it in quotes"},
		"python: {run: python3}":                              {"python", "run"},
		"python: {run: [1]}":                                  {"python", "run[0]"},
		"python: {limit_floors: {memory: lots}}":              {"python", "256MiB"},
		"python: image":                                       {},
		"- python":                                            {},
		"python: [":                                           {},
		"zig: {file: main.zig}":                               {"zig", "must be set"},
		"python: {image: \"\"}":                               {"python", "must be set"},
		"python: {heap_fraction: 2}":                          {"python", "heap_fraction: 2 is not allowed"},
		"python: {heap_fraction: .nan}":                       {"python", "NaN is not allowed"},
		"python: {limit_floors: {pids: -1}}":                  {"python", "limit_floors.pids: -1 is not allowed"},
		"a b: {image: x, file: y, run: [z]}":                  {"a b"},
		"x: {image: x, file: y, run: [z], aliases: [python]}": {"python", "x"},
	} {
		_, file, err := overridden(t, content)
		require.ErrorContains(t, err, file, content)
		for _, want := range wants {
			require.ErrorContains(t, err, want, content)
		}
	}
	c := Default()
	c.LanguagesFile = "/nonexistent/languages.yaml"
	_, err := c.Languages()
	require.ErrorContains(t, err, "languages_file: ")
}
