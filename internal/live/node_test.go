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

func TestNodeVariablesPersist(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	require.Empty(t, s.value("let x = 40; const y = 1; var z = 1; class A { name() { return 'first'; } }"))
	require.Equal(t, "42", s.value("x += 1;", "x + y"))
	require.Equal(t, "'first'", s.value("new A().name()"))
	require.Equal(t, "'second'", s.value("class A { name() { return 'second'; } }", "new A().name()"), "declarations can be repeated")
	require.Equal(t, "5", s.value("const y = 5; let x = 0;", "x + y"))
	require.Equal(t, "3", s.value("await new Promise((done) => setTimeout(done, 5));", "const q = await Promise.resolve(2);", "q + z"))
	require.Equal(t, "{ a: [ 1, 2n ], b: Map(1) { 'k' => undefined } }", s.value("({ a: [1, 2n], b: new Map([['k', undefined]]) })"))
	require.Equal(t, "-0", s.value("-0"))
	require.Equal(t, "true", s.value("[] instanceof Array && new (require('events'))() instanceof Object"))
	outcome := s.do("console.log('hello', { a: 1 });", "console.error('oops');", "require('child_process').spawnSync('echo', ['child'], { stdio: 'inherit' });", "process.stdout.write('raw');", "undefined")
	require.Equal(t, "hello { a: 1 }\nchild\nraw", string(outcome.Result.Stdout.Data))
	require.Equal(t, "oops\n", string(outcome.Result.Stderr.Data))
}

func TestNodeImports(t *testing.T) {
	t.Parallel()
	s := start(t, "node", given(text("tool.js", "exports.answer = 40"), text("tool.mjs", "export const answer = 1;"), text("package.json", "{}")))
	require.Equal(t, "42", s.value("const { answer } = require('./tool');", "const tool = await import('./tool.mjs');", "const fs = await import('node:fs');",
		"answer + tool.answer + Number(fs.existsSync('tool.js'))"))
	require.Equal(t, `"import('x') // import('y')"`, s.value(`"import('x') // import('y')"`), "text stays as it is")
	require.Equal(t, "true", s.value("require.main === module"))
	require.Equal(t, "[ 'package.json', 'tool.js', 'tool.mjs' ]", s.value("require('fs').readdirSync('.')"))
	stderr := string(s.run(s.cell("import fs from 'fs';")).Result.Stderr.Data)
	require.Contains(t, stderr, "SyntaxError: Cannot use import statement outside a module")
	require.Contains(t, stderr, "Use require() or await import() instead.")
}

func TestNodeErrorsHaveTheCodeAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	s.do("function f(a) {", "  return a.b.c;", "}")
	bad := s.cell("let y = 3;", "f({});")
	bad.Name = "cell 2"
	outcome := s.run(bad)
	require.Equal(t, `cell 1:2
  return a.b.c;
             ^

TypeError: Cannot read properties of undefined (reading 'c')
    at f (cell 1:2:14)
    at cell 2:2:1
`, string(outcome.Result.Stderr.Data))
	require.Equal(t, sandbox.OutcomeNonzeroExit, outcome.Result.Outcome)
	require.Equal(t, 1, outcome.Result.ExitCode)
	require.Empty(t, outcome.Report.Ended)
	require.Equal(t, "3", s.value("y"))
	for code, want := range map[string]string{
		"let a = 1;\nlet b = 3 3;":                        "cell 1:2\nlet b = 3 3;\n          ^\n\nSyntaxError: Unexpected number\n",
		"throw 'text'":                                    "Uncaught 'text'\n",
		"await Promise.reject(new Error('awaited'))":      "cell 1:1\nawait Promise.reject(new Error('awaited'))\n                     ^\n\nError: awaited\n    at cell 1:1:22\n",
		"Promise.reject(new Error('nobody handles'));\n5": "cell 1:1\nPromise.reject(new Error('nobody handles'));\n               ^\n\nError: nobody handles\n    at cell 1:1:16\n",
		"setTimeout(() => { throw new Error('later') }, 1);\nawait new Promise((r) => setTimeout(r, 50))": "cell 1:1\nsetTimeout(() => { throw new Error('later') }, 1);\n                         ^\n\nError: later\n    at Timeout._onTimeout (cell 1:1:26)\n",
	} {
		outcome := s.run(s.cell(code))
		require.Equal(t, want, string(outcome.Result.Stderr.Data))
		require.Equal(t, sandbox.OutcomeNonzeroExit, outcome.Result.Outcome)
	}
}

// An error of a timer is that of the cell which runs when it comes; between cells it is text for the next.
func TestNodeErrorsBetweenCellsAreToldWithTheNext(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	for {
		first := s.run(s.cell("setTimeout(() => { throw new Error('between cells') }, 1); 0"))
		second := s.run(s.cell("await new Promise((r) => setTimeout(r, 100))"))
		said := string(first.Result.Stderr.Data) + string(second.Result.Stderr.Data)
		require.Equal(t, 1, strings.Count(said, "Error: between cells\n"), said)
		if first.Result.Outcome == sandbox.OutcomeOK && second.Result.Outcome == sandbox.OutcomeOK {
			break
		} // it came a little too early or too late
	}
	require.Equal(t, "1", s.value("1"), "and the interpreter lives on")
}

func TestNodeReadsStdin(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	cell := s.cell("require('fs').readFileSync(0, 'utf8')")
	cell.Stdin = []byte("given\n")
	require.Equal(t, `'given\n'`, s.run(cell).Report.Value)
	require.Equal(t, "''", s.value("require('fs').readFileSync('/dev/stdin', 'utf8')"))
	cell = s.cell("let all = '';", "for await (const part of process.stdin) all += part;", "all")
	cell.Stdin = []byte("streamed")
	require.Equal(t, `'streamed'`, s.run(cell).Report.Value)
	require.Equal(t, `'streamed'`, s.run(cell).Report.Value, "again and again")
}

func TestNodeEndsWhenTheCodeExits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code  string
		want  sandbox.Outcome
		exit  int
		ended string
	}{
		"process.exit":      {"console.log('bye'); process.exit(3); console.log('not this')", sandbox.OutcomeNonzeroExit, 3, "the code exited with code 3"},
		"process.exit of 0": {"console.log('bye'); process.exit()", sandbox.OutcomeOK, 0, "the code exited with code 0"},
		"the heap is full":  {"console.log('bye'); const all = []; for (;;) all.push(new Array(1000).fill(all.length))", sandbox.OutcomeSignaled, 134, "it was killed by SIGABRT"},
		"SIGKILL":           {"console.log('bye'); process.kill(process.pid, 'SIGKILL')", sandbox.OutcomeSignaled, 137, "it was killed by SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "node")
			outcome := s.run(s.cell(tt.code))
			require.Equal(t, tt.want, outcome.Result.Outcome, outcome.Result.Message)
			require.Equal(t, tt.exit, outcome.Result.ExitCode)
			require.Equal(t, tt.ended, outcome.Report.Ended)
			require.Equal(t, "bye\n", string(outcome.Result.Stdout.Data))
			_, err := s.Run(t.Context(), s.cell("1"))
			require.ErrorIs(t, err, live.ErrEnded)
		})
	}
}

func TestNodeWritesLater(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	require.Empty(t, s.do("setTimeout(() => console.log('late'), 300);", "0").Result.Stdout.Data)
	require.Eventually(t, func() bool { return string(s.do("0").Result.Stdout.Data) == "late\n" }, 20*time.Second, 50*time.Millisecond)
	s.do("process.stdout.destroy();", "0")
	require.Equal(t, "still heard\n", string(s.do("console.log('still heard')").Result.Stdout.Data))
}

func TestNodeDisplays(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	outcome := s.do("display({ a: 1 });", "display(Buffer.from('png'), 'image/png');", "display('# title', 'text/markdown')")
	require.Equal(t, []workspace.Display{
		{MIME: "text/plain", Text: "{ a: 1 }"}, {MIME: "image/png", Path: "figure-1.png"}, {MIME: "text/markdown", Text: "# title"},
	}, outcome.Report.Displays)
	require.Equal(t, []sandbox.File{{Path: "figure-1.png", Data: []byte("png")}}, outcome.Result.Files)
}
