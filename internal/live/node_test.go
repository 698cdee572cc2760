package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodeVariablesPersist(t *testing.T) {
	t.Parallel()
	s := start(t, "node")
	require.Empty(t, s.value("let x = 40; const y = 1; var z = 1;"))
	require.Equal(t, "42", s.value("x += 1;", "x + y"))
	require.Equal(t, "5", s.value("const y = 5; let x = 0;", "x + y"))
	require.Equal(t, "3", s.value("await new Promise((done) => setTimeout(done, 5));", "const q = await Promise.resolve(2);", "q + z"))
	outcome := s.do("console.log('hello')", "console.error('oops')")
	require.Equal(t, "hello\n", string(outcome.Result.Stdout.Data))
	require.Equal(t, "oops\n", string(outcome.Result.Stderr.Data))
	bad := s.run(s.cell("function f(a) {", "  return a.b.c;", "}", "f({});"))
	t.Log(string(bad.Result.Stderr.Data))
	bad = s.run(s.cell("let a = 1;", "let b = 3 3;"))
	t.Log(string(bad.Result.Stderr.Data))
	bad = s.run(s.cell("import fs from 'fs'"))
	t.Log(string(bad.Result.Stderr.Data))
	require.Equal(t, "'function'", s.value("const fs2 = await import('fs');", "typeof fs2.readFileSync"))
	bad = s.run(s.cell("setTimeout(() => { throw new Error('late') }, 1);", "await new Promise((r) => setTimeout(r, 100))"))
	t.Log(string(bad.Result.Stderr.Data))
	bad = s.run(s.cell("Promise.reject(new Error('nobody'));", "5"))
	t.Log(string(bad.Result.Stderr.Data))
	bad = s.run(s.cell("process.exit(3)"))
	t.Logf("%+v", bad)
}
