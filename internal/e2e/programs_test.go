package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

const helloCPP = `#include <iostream>
int main() { std::cout << "hello from cpp\n"; }
`

// TestRun shows what a person sees at the command line, program by program.
func TestRun(t *testing.T) {
	in := newInstallation(t)
	in.startWorker(t)
	for _, c := range []struct {
		name, file, source, stdin string
		flags                     []string
		code                      int
		stdout                    string
		stderr                    []string
	}{
		{name: "python", file: "hello.py", source: "print('hello from python')", stdout: "hello from python\n"},
		{name: "node", file: "hello.js", source: "console.log('hello from node')", stdout: "hello from node\n"},
		{name: "bash", file: "hello", source: "#!/bin/bash\necho hello from bash", stdout: "hello from bash\n"},
		{name: "cpp", file: "hello.cpp", source: helloCPP, stdout: "hello from cpp\n"},
		{
			name: "c, whose code is its own", file: "exit.c", code: 42,
			source: "#include <stdio.h>\nint main(void) { puts(\"out\"); fputs(\"err\\n\", stderr); return 42; }",
			stdout: "out\n", stderr: []string{"err\n"},
		},
		{name: "an echo of stdin", file: "echo.py", source: "import sys\nsys.stdout.write(sys.stdin.read())", stdin: "Grüße\nno line feed", flags: []string{"--stdin", "-"}, stdout: "Grüße\nno line feed"},
		{name: "no stdin is end of file at once", file: "read.py", source: "import sys\nprint(repr(sys.stdin.read()))", stdin: "not for the program", stdout: "''\n"},
		{name: "the program itself on stdin", file: "-", stdin: "print(6*7)", flags: []string{"-l", "python"}, stdout: "42\n"},
		{name: "arguments and variables", file: "args.py", source: "import os, sys\nprint(sys.argv[1:], os.environ['WHO'])", flags: []string{"--arg", "a b", "--env", "WHO=me", "--", "-x", "$HOME"}, stdout: "['a b', '-x', '$HOME'] me\n"},
		{name: "a C++ compile error", file: "broken.cpp", source: "int main() { return answer; }", code: 1, stderr: []string{"broken.cpp:1", "error", "answer"}},
		{name: "400 MB", file: "hog.py", source: "print('before', flush=True)\nx = b'x' * 400_000_000", code: 137, stdout: "before\n", stderr: []string{"enqueue: ", "256"}},
		{name: "a child that takes 400 MB", file: "child.py", source: "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', \"x = b'x' * 400_000_000\"]).returncode)", code: 137, stdout: "-9\n"},
		{name: "exit 137 is the program's own", file: "code.sh", source: "exit 137", code: 137},
		{name: "a fork bomb", file: "bomb.sh", source: "b() { b | b & }; b; sleep 60", flags: []string{"-t", "2"}, code: 124},
		{name: "bytes that are not text", file: "bytes.py", source: `import sys; sys.stdout.buffer.write(b"\xff\xfe\x00\n\x80")`, stdout: "\xff\xfe\x00\n\x80"},
		{name: "secrets and sockets", file: "spy.py", source: spy, stdout: "shadow refused\nconnect refused\nresolve refused\n"},
		{name: "a signal", file: "abort.py", source: "import os\nos.abort()", code: 134, stderr: []string{"SIGABRT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testenv.Except(t, "runsc", notOnGVisor)
			if c.file != "-" {
				c.file = in.file(t, c.file, c.source)
			}
			got := in.enqueueIn(t, in.dir, c.stdin, append([]string{"run", c.file}, c.flags...)...)
			require.Equal(t, c.code, got.code, got.stderr)
			require.Equal(t, c.stdout, got.stdout, got.stderr)
			for _, want := range c.stderr {
				require.Contains(t, got.stderr, want)
			}
			if c.stderr == nil && c.code == 0 {
				require.Empty(t, got.stderr)
			}
		})
	}
	t.Run("an endless loop ends soon after its time", func(t *testing.T) {
		loop := in.file(t, "loop.py", "print('spinning', flush=True)\nwhile True: pass")
		got := in.enqueue(t, "run", loop, "-t", "2", "--json")
		require.Equal(t, 124, got.code)
		var record struct {
			Result struct {
				Outcome  string  `json:"outcome"`
				ExitCode int     `json:"exit_code"`
				TimedOut bool    `json:"timed_out"`
				Duration float64 `json:"duration_seconds"`
				Stdout   struct {
					Data string `json:"data"`
				} `json:"stdout"`
			} `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &record))
		require.Equal(t, "wall_timeout", record.Result.Outcome)
		require.Equal(t, -1, record.Result.ExitCode)
		require.True(t, record.Result.TimedOut)
		require.Equal(t, "spinning\n", record.Result.Stdout.Data, "partial output is kept")
		require.InDelta(t, 2.25, record.Result.Duration, 0.25)
	})
	t.Run("100 MB of output keep head and tail", func(t *testing.T) {
		flood := in.file(t, "flood.py", "import sys\nsys.stdout.write('head\\n')\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\nsys.stdout.write('\\ntail\\n')")
		got := in.enqueue(t, "run", flood)
		require.Equal(t, 0, got.code, got.stderr)
		require.True(t, strings.HasPrefix(got.stdout, "head\nxxx"))
		require.True(t, strings.HasSuffix(got.stdout, "xxx\ntail\n"))
		require.Len(t, got.stdout, 65536)
		require.Contains(t, got.stderr, "100000011 bytes were written and 65536 are kept")
	})
	t.Run("output comes while the program runs", func(t *testing.T) { live(t, in) })
	t.Run("files go in and come back", func(t *testing.T) { files(t, in) })
}

const spy = `
import socket
try:
    open("/etc/shadow").read(); print("shadow read")
except OSError:
    print("shadow refused")
try:
    socket.create_connection(("192.0.2.1", 80), 2); print("connected")
except OSError:
    print("connect refused")
try:
    socket.gethostbyname("example.com"); print("resolved")
except OSError:
    print("resolve refused")
`

// bound is how long something may take that needs one container on a busy machine.
const bound = 30 * time.Second
