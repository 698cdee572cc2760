package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestPathsThatAreAccepted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "a/b/c.txt", "..a", "a..", "...", "-rf", " ", "ü", "a\nb", "a\\b", strings.Repeat("a", 255),
		strings.Repeat("a/", 63) + "a",
	} {
		p := sandbox.Program{Language: "x", Files: []sandbox.File{{Path: name}}}
		require.NoError(t, p.Validate(sandbox.DefaultLimits()), "%q", name)
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ".", "..", "/", "/etc/passwd", "../a", "a/../../b", "a/..", "./a", "a/", "a//b", "a\x00", "\xff", ".sandloop-out", ".sandloop-out/Main.class",
		strings.Repeat("a", 256), strings.Repeat("a/", 64) + "a", strings.Repeat("abcdefgh/", 120) + "a",
	} {
		p := sandbox.Program{Language: "x", Source: sandbox.Bytes("y"), Files: []sandbox.File{{Path: name}}}
		require.ErrorContains(t, p.Validate(sandbox.DefaultLimits()), "files[0].path", "%q", name)
		if name != "" {
			p = sandbox.Program{Language: "x", Source: sandbox.Bytes("y"), Main: name}
			require.ErrorContains(t, p.Validate(sandbox.DefaultLimits()), "main:", "%q", name)
		}
	}
}

func TestFilesThatNoFolderCanHold(t *testing.T) {
	t.Parallel()
	files := func(names ...string) (files []sandbox.File) {
		for _, name := range names {
			files = append(files, sandbox.File{Path: name})
		}
		return files
	}
	require.NoError(t, sandbox.CheckFiles(files("a", "ab/c", "ab.c", "b/a", "a.d/a")))
	require.EqualError(t, sandbox.CheckFiles(files("a", "x", "a/b", "x/y/z")),
		`files[2].path: "a" is a file and "a/b" needs it as a directory`+"\n"+`files[3].path: "x" is a file and "x/y/z" needs it as a directory`)
	long := strings.Repeat("a/", 1<<19)
	require.ErrorContains(t, sandbox.CheckFiles(files("a", long)), "files[1].path: is 1048576 bytes long")
}

func TestProgramsThatAreRefused(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits()
	limits.FilesIn, limits.InputBytes = 2, 10
	files := func(names ...string) (files []sandbox.File) {
		for _, name := range names {
			files = append(files, sandbox.File{Path: name, Data: sandbox.Bytes("123")})
		}
		return files
	}
	for name, test := range map[string]struct {
		program sandbox.Program
		want    string
	}{
		"no language":      {sandbox.Program{Source: sandbox.Bytes("x")}, "language: is empty"},
		"nothing to run":   {sandbox.Program{Language: "x"}, "source: is empty and there are no files"},
		"too many files":   {sandbox.Program{Language: "x", Files: files("a", "b", "c")}, "files: 3 are given: want at most 2"},
		"a file twice":     {sandbox.Program{Language: "x", Files: files("a", "a")}, `files[1].path: "a" is given twice`},
		"a file in a file": {sandbox.Program{Language: "x", Files: files("a/b/c", "a")}, `files[0].path: "a" is a file and "a/b/c" needs it as a directory`},
		"too many bytes":   {sandbox.Program{Language: "x", Source: sandbox.Bytes("1234"), Stdin: sandbox.Bytes("1234"), Files: files("a")}, "are 11 bytes: want at most 10"},
		"NUL in argument":  {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Args: []string{"a", "b\x00"}}, "args[1]: holds a NUL byte"},
		"long argument":    {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Args: []string{strings.Repeat("a", 131072)}}, "args[0]: is 131072 bytes long"},
		"many arguments":   {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Args: make([]string, 4097)}, "args: 4097 are given"},
		"empty variable":   {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Env: map[string]string{"": "x"}}, "env: the name"},
		"no UTF-8 in name": {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Env: map[string]string{"A\xff": "x"}}, "env: the name"},
		"variable with =":  {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Env: map[string]string{"A=B": "x"}}, "env: the name"},
		"NUL in variable":  {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Env: map[string]string{"A": "\x00"}}, "env.A: holds a NUL byte"},
		"not UTF-8":        {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Args: []string{"\xff"}}, "args[0]: is not UTF-8"},
		"args and variables": {sandbox.Program{
			Language: "x", Source: sandbox.Bytes("x"), // 8*131072 + 1 + 10 + 2
			Args: slices.Repeat([]string{strings.Repeat("a", 131071)}, 8), Env: map[string]string{"A": "1234567890"},
		}, "args, env: are 1048589 bytes together"},
		"bad pattern":   {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Outputs: []string{"ok", "/etc/*"}}, "outputs[1]:"},
		"many patterns": {sandbox.Program{Language: "x", Source: sandbox.Bytes("x"), Outputs: make([]string, 65)}, "outputs: 65 are given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, test.program.Validate(limits), test.want)
		})
	}
}

func TestAtTheBoundsAProgramIsAccepted(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits()
	limits.FilesIn, limits.InputBytes = 1, 10
	require.NoError(t, sandbox.Program{
		Language: "x", Source: sandbox.Bytes("1234"), Stdin: sandbox.Bytes("123"), Files: []sandbox.File{{Path: "a", Data: sandbox.Bytes("123")}},
		Args: []string{strings.Repeat("a", 131071), ""}, Env: map[string]string{"A": "", "_": "ü\n"}, Outputs: []string{"**"},
	}.Validate(limits))
}
