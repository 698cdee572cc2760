package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestPythonVariablesPersist(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	require.Empty(t, s.value("x = 40"))
	require.Equal(t, "42", s.value("x += 1", "x + 1"))
	require.Equal(t, "42", s.value("_"))
	require.Equal(t, "'__main__'", s.value("__name__"))
	require.Equal(t, "[1, 2]", s.value("import asyncio", "async def f(n):", "    await asyncio.sleep(0.01)", "    return n", "await asyncio.gather(f(1), f(2))"))
	require.Equal(t, "3", s.value("asyncio.run(f(3))"), "no loop runs while the code is not in one")
	outcome := s.do("print('hello')", "import sys, os", "print('oops', file=sys.stderr)", "os.system('echo from a child')", "os.write(1, b'raw\\n');")
	require.Equal(t, "hello\nfrom a child\nraw\n", string(outcome.Result.Stdout.Data))
	require.Equal(t, "oops\n", string(outcome.Result.Stderr.Data))
	require.EqualValues(t, 256<<20, outcome.Result.Enforcement.MemoryBytes)
	require.True(t, outcome.Result.OK)
	require.Positive(t, outcome.Result.PeakMemory)
}

func TestPythonTracebacksHaveTheCodeAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("def f(n):", "    return 1 / n")
	bad := s.cell("y = 3", "f(0)")
	bad.Name = "cell 2"
	outcome := s.run(bad)
	require.Equal(t, `Traceback (most recent call last):
  File "cell 2", line 2, in <module>
    f(0)
  File "cell 1", line 2, in f
    return 1 / n
           ~~^~~
ZeroDivisionError: division by zero
`, string(outcome.Result.Stderr.Data))
	require.Equal(t, sandbox.OutcomeNonzeroExit, outcome.Result.Outcome)
	require.Equal(t, 1, outcome.Result.ExitCode)
	require.False(t, outcome.Result.OK)
	require.Empty(t, outcome.Report.Ended)
	require.Equal(t, "3", s.value("y"), "what came before the exception counts")

	outcome = s.run(s.cell("x = (1,", "print(x"))
	require.Equal(t, "  File \"cell 1\", line 2\n    print(x\n         ^\nSyntaxError: '(' was never closed\n", string(outcome.Result.Stderr.Data))
	outcome = s.run(s.cell("class Bad:", "    def __repr__(self):", "        return 1 / 0", "Bad()"))
	require.Contains(t, string(outcome.Result.Stderr.Data), "ZeroDivisionError")
	require.NotContains(t, string(outcome.Result.Stderr.Data), ".sandloop")
	cell := s.cell("def g():", "    while True: pass", "g()")
	cell.WallTime = 200 * time.Millisecond
	outcome = s.run(cell)
	require.Contains(t, string(outcome.Result.Stderr.Data), "line 2, in g\n")
	require.NotContains(t, string(outcome.Result.Stderr.Data), ".sandloop")
	outcome = s.run(s.cell("try:", "    f(0)", "except ZeroDivisionError as e:", "    raise ValueError('no') from e"))
	require.Contains(t, string(outcome.Result.Stderr.Data), "The above exception was the direct cause")
	require.NotContains(t, string(outcome.Result.Stderr.Data), ".sandloop")
}

func TestPythonReadsStdin(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	cell := s.cell("a = input('name? ')", "import sys, subprocess", "rest = sys.stdin.read()", "(a, rest)")
	cell.Stdin = []byte("Ada\nmore\nlines\n")
	outcome := s.run(cell)
	require.Equal(t, `('Ada', 'more\nlines\n')`, outcome.Report.Value, string(outcome.Result.Stderr.Data))
	require.Equal(t, "name? ", string(outcome.Result.Stdout.Data))
	outcome = s.run(s.cell("input()"))
	require.Contains(t, string(outcome.Result.Stderr.Data), "EOFError")
	cell = s.cell("subprocess.run(['cat'], check=True);")
	cell.Stdin = []byte("through a child\n")
	require.Equal(t, "through a child\n", string(s.run(cell).Result.Stdout.Data))
}

func TestPythonEndsWhenTheCodeExits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code          string
		want          sandbox.Outcome
		exit          int
		ended, stderr string
	}{
		"sys.exit":      {"import sys; print('bye'); sys.exit(3)", sandbox.OutcomeNonzeroExit, 3, "the code exited with code 3", ""},
		"with a text":   {"import sys; print('bye'); sys.exit('why')", sandbox.OutcomeNonzeroExit, 1, "the code exited with code 1", "why\n"},
		"sys.exit of 0": {"import sys; print('bye'); sys.exit()", sandbox.OutcomeOK, 0, "the code exited with code 0", ""},
		"os._exit":      {"import os; print('bye'); os._exit(5)", sandbox.OutcomeNonzeroExit, 5, "it exited with code 5", ""},
		"SIGKILL":       {"import os; print('bye'); os.kill(os.getpid(), 9)", sandbox.OutcomeSignaled, 137, "it was killed by SIGKILL", ""},
		"SIGSEGV":       {"import os; print('bye'); os.kill(os.getpid(), 11)", sandbox.OutcomeSignaled, 139, "it was killed by SIGSEGV", ""},
		"the driver":    {"import os; print('bye', flush=True); import time; time.sleep(0.2); os.kill(os.getppid(), 9); time.sleep(9)", sandbox.OutcomeSignaled, 137, "it was killed by SIGKILL", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "python")
			outcome := s.run(s.cell(tt.code))
			require.Equal(t, tt.want, outcome.Result.Outcome, outcome.Result.Message)
			require.Equal(t, tt.exit, outcome.Result.ExitCode)
			require.Equal(t, tt.ended, outcome.Report.Ended)
			require.Equal(t, "bye\n", string(outcome.Result.Stdout.Data))
			require.Equal(t, tt.stderr, string(outcome.Result.Stderr.Data))
			<-s.Done()
			_, err := s.Run(t.Context(), s.cell("1"))
			require.ErrorIs(t, err, live.ErrEnded)
			require.NotEmpty(t, s.Reason())
		})
	}
}

func TestPythonDisplays(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	outcome := s.do("class Picture:", "    def _repr_png_(self):", "        return b'\\x89PNG...'", "    def __repr__(self):", "        return 'a picture'",
		"display('text', 5)", "Picture()")
	require.Equal(t, []workspace.Display{
		{MIME: "text/plain", Text: "'text'"}, {MIME: "text/plain", Text: "5"}, {MIME: "image/png", Path: "figure-1.png"},
	}, outcome.Report.Displays)
	require.Equal(t, "a picture", outcome.Report.Value)
	require.Equal(t, []sandbox.File{{Path: "figure-1.png", Data: []byte("\x89PNG...")}}, outcome.Result.Files)

	outcome = s.do("'x' * 1_000_000")
	require.Less(t, len(outcome.Report.Value), 64<<10+1)
	require.Contains(t, outcome.Report.Value, "of 1000002 bytes not kept")
	require.True(t, strings.HasPrefix(outcome.Report.Value, "'xxx") && strings.HasSuffix(outcome.Report.Value, "xxx'"))
}

func TestPythonValuesAreNotKept(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("import gc, weakref", "class Big: pass", "big = Big()", "seen = weakref.ref(big)", "big")
	s.do("del big", "0")
	require.Equal(t, "True", s.value("gc.collect()", "seen() is None"))
	s.run(s.cell("big = Big()", "seen = weakref.ref(big)", "def f(held):", "    del globals()['big']", "    raise ValueError(held)", "f(big)"))
	require.Equal(t, "True", s.value("gc.collect()", "seen() is None"), "nor those of a traceback")
}

func TestPythonThreadsWriteLater(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	outcome := s.do("import threading, time", "go = threading.Event()", "def late():", "    go.wait()", "    print('late')",
		"thread = threading.Thread(target=late)", "thread.start()")
	require.Empty(t, outcome.Result.Stdout.Data)
	outcome = s.do("go.set()", "thread.join()")
	require.Equal(t, "late\n", string(outcome.Result.Stdout.Data))
	s.do("threading.Timer(0.05, print, ['between']).start()")
	require.Eventually(t, func() bool { return strings.Contains(string(s.do("1").Result.Stdout.Data), "between\n") }, 20*time.Second, 20*time.Millisecond)
}

func TestPythonFork(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	outcome := s.do("import os", "pid = os.fork()", "if pid == 0:", "    print('child')", "else:", "    os.waitpid(pid, 0)", "    print('parent')")
	require.Equal(t, "child\nparent\n", string(outcome.Result.Stdout.Data))
	require.Equal(t, "[1, 4, 9]", s.value("import multiprocessing", "def square(n):", "    return n * n",
		"with multiprocessing.get_context('fork').Pool(2) as pool:", "    found = pool.map(square, [1, 2, 3])", "found"))
}

func TestPythonImportsTheSessionsModules(t *testing.T) {
	t.Parallel()
	s := start(t, "python", given(text("interpreter.py", "answer = 40"), text("frames.py", "answer = 1"), text("json.py", "answer = 1")))
	require.Equal(t, "41", s.value("import interpreter, frames", "interpreter.answer + frames.answer"), "also those with names of ours")
	require.Equal(t, "['.', '..']", s.value("import os", "[name for name in ('.', '..', '.sandloop') if os.path.exists(name)]"))
	require.Equal(t, "'/workspace'", s.value("import sys", "sys.path[0]"))
	require.Equal(t, "('def f():\\n    return 1\\n', True)", s.value("import inspect", "def f():", "    return 1", "(inspect.getsource(f), '__file__' not in globals())"))
	s.do("from __future__ import annotations")
	require.Equal(t, "'Nowhere'", s.value("def g(a: Nowhere): pass", "g.__annotations__['a']"), "it counts for later cells")
}

func TestPythonStreamsComeBack(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	for _, attack := range []string{
		"import os, sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()", "os.close(0); os.close(1); os.close(2)",
		"sys.stdout = sys.stderr = sys.stdin = None", "f = open('/dev/null', 'w'); os.dup2(f.fileno(), 1);",
	} {
		s.do(attack)
		cell := s.cell("print('still heard by', input())")
		cell.Stdin = []byte("you")
		require.Equal(t, "still heard by you\n", string(s.run(cell).Result.Stdout.Data), attack)
	}
}

func TestPythonStreamsMayBeAnything(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("import sys", "class Tee:", "    def __init__(self, to): self.to = to", "    def write(self, text): return self.to.write(text + '!')", "    def flush(self): self.to.flush()",
		"sys.stdout, sys.stderr, sys.stdin = Tee(sys.stdout), object(), object()")
	outcome := s.do("print('x', end='')", "2 + 2")
	require.Equal(t, "4", outcome.Report.Value)
	require.Equal(t, "x!!", string(outcome.Result.Stdout.Data), "it stays: print writes the text and its end")
	s.do("del sys.stdout, sys.stderr, sys.stdin")
	require.Equal(t, "y\n", string(s.do("print('y')").Result.Stdout.Data))
}
