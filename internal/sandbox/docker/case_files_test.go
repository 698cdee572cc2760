package docker

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func c(source string) sandbox.Program {
	return sandbox.Program{Language: "c", Source: []byte(source)}
}

func TestCaseFilesInAndOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deep := strings.Repeat("d/", 60) + "data.bin"
	content := bytes.Repeat([]byte{0, 0xff, '\r', '\n', 0xc3}, 50_000)
	p := python(
		"import os, shutil",
		"shutil.copy('"+deep+"', 'copy.bin')",
		"os.makedirs('out/a/b'); open('out/a/b/deep.txt', 'w').write('deep')",
		"open('out/empty', 'w'); open('out/run.sh', 'w').write('#!'); os.chmod('out/run.sh', 0o755)",
		"print(oct(os.stat('tool').st_mode)[-3:], open('tool').read())",
	)
	p.Files = []sandbox.File{{Path: deep, Data: content}, {Path: "tool", Data: []byte("x"), Executable: true}}
	p.Outputs = []string{"copy.bin", "out/**", "absent"}
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	require.Equal(t, "755 x\n", string(got.Stdout.Data))
	files := map[string]sandbox.File{}
	for _, file := range got.Files {
		files[file.Path] = file
	}
	require.Len(t, files, 4)
	require.Equal(t, content, []byte(files["copy.bin"].Data))
	require.Equal(t, "deep", string(files["out/a/b/deep.txt"].Data))
	require.Empty(t, files["out/empty"].Data)
	require.True(t, files["out/run.sh"].Executable)
}

func TestCaseOutputFilesThatAreNoFilesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python(
		"import os, socket",
		"os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'dir'); os.mkfifo('fifo')",
		"socket.socket(socket.AF_UNIX).bind('socket')",
		"open('real', 'w').write('real')",
		"os.mkdir('sub'); os.symlink('/etc/passwd', 'sub/link')",
	)
	p.Outputs = []string{"*", "dir/passwd", "sub/*"}
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	var names []string
	for _, file := range got.Files {
		names = append(names, file.Path)
		require.NotContains(t, string(file.Data), "root:")
	}
	require.ElementsMatch(t, []string{"main.py", "real"}, names)
	refused := map[string]string{}
	for _, file := range got.RefusedFiles {
		refused[file.Path] = file.Reason
	}
	for _, path := range []string{"link", "fifo", "socket", "sub/link"} {
		require.NotEmpty(t, refused[path], "%s: %v", path, refused)
	}
}

func TestCaseFilesOutAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("for i in range(5): open(f'f{i}', 'w').write('x' * 1000)")
	p.Outputs = []string{"f*"}
	p.Limits.FilesOut = ptr(3)
	got := b.run(t, p)
	require.Len(t, got.Files, 3)
	require.Len(t, got.RefusedFiles, 2)
	p.Limits.FilesOut, p.Limits.FileBytes = nil, ptr(int64(2500))
	got = b.run(t, p)
	require.Len(t, got.Files, 2)
	require.Len(t, got.RefusedFiles, 3)
}

func TestCaseInputThatCannotFitIsRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("echo no")
	p.Files = []sandbox.File{{Path: "big", Data: make([]byte, 3<<20)}}
	p.Limits.Workspace = ptr(2 * sandbox.MiB)
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeRejected, got.Outcome)
	require.Contains(t, got.Message, "workspace_bytes")

	p.Limits = sandbox.Overrides{Memory: ptr(32 * sandbox.MiB)}
	p.Files[0].Data = make([]byte, 25<<20)
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeRejected, got.Outcome)
	require.Contains(t, got.Message, "memory_bytes")

	p = bash("echo no")
	p.Files = []sandbox.File{{Path: "a", Data: []byte("x")}, {Path: "a/b/c", Data: []byte("y")}}
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeRejected, got.Outcome)
	require.Contains(t, got.Message, `"a" is a file`)

	p = bash("cat")
	p.Stdin = bytes.Repeat([]byte("x"), 22<<20)
	p.Limits.Memory = ptr(32 * sandbox.MiB)
	got = b.run(t, p)
	require.EqualValues(t, 22<<20, got.Stdout.Total, "what just fits is taken: %s", got.Message)
}

func TestCaseUnknownLanguageIsRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, sandbox.Program{Language: "cobol", Source: []byte("x")})
	require.Equal(t, sandbox.OutcomeRejected, got.Outcome)
	require.Equal(t, `language "cobol" is unknown: want one of bash, c, node, python`, got.Message)
}

func TestCompileAndRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, c("#include <stdio.h>\nint main(void) { printf(\"%d\\n\", 6 * 7); return 3; }\n"))
	require.Equal(t, sandbox.OutcomeNonzeroExit, got.Outcome, got.Message)
	require.Equal(t, 3, got.ExitCode)
	require.Equal(t, "42\n", string(got.Stdout.Data))
	require.Equal(t, sandbox.OutcomeOK, got.Compile.Outcome)
	require.Positive(t, got.Compile.Duration)

	got = b.run(t, c("int main(void) { return missing; }\n"))
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
	require.Equal(t, 1, got.ExitCode)
	require.Contains(t, string(got.Compile.Stderr.Data), "main.c:1")
	require.Contains(t, string(got.Compile.Stderr.Data), "missing")
	require.Empty(t, got.Stderr.Data)
}

func TestCaseCompileThatNeverEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := c("#include </dev/zero>\nint main(void) { return 0; }\n")
	p.Limits.CompileTime = wall(2 * time.Second)
	begun := time.Now()
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome, "%s", got.Message)
	require.NotEmpty(t, got.Message)
	require.NotEqual(t, sandbox.OutcomeOK, got.Compile.Outcome)
	require.Less(t, time.Since(begun), testenv.Scale(t, 20*time.Second))

	p = c("int main(void) { return 0; }\n")
	p.Limits.CompileTime = wall(10 * time.Millisecond)
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Compile.Outcome)
	require.Equal(t, "compile: stopped at the wall-clock limit of 0.01 s", got.Message)
	require.Equal(t, -1, got.ExitCode)
}

func TestCaseBusyBinary(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(2))
	count := 40
	if testing.Short() {
		count = 8
	}
	numbers := make(chan int, count)
	for n := range count {
		numbers <- n
	}
	close(numbers)
	var slots sync.WaitGroup
	for range 4 {
		slots.Go(func() {
			for n := range numbers {
				p := c(fmt.Sprintf("#include <stdio.h>\nint main(void) { puts(\"%d\"); }\n", n))
				p.Limits.CPUs = ptr(1.0)
				got, err := b.Run(t.Context(), p)
				if err != nil || string(got.Stdout.Data) != fmt.Sprintf("%d\n", n) {
					t.Errorf("program %d: %+v, %v", n, got, err)
				}
			}
		})
	}
	slots.Wait()
}
