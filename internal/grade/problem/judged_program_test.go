package problem_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func foreign(g *problem.Grading, sources ...sandbox.File) (sandbox.Program, error) {
	return g.Program(problem.NewProgram("alice", sources), sources)
}

func source(path, text string) sandbox.File { return sandbox.File{Path: path, Data: []byte(text)} }

func TestTheMainFileOfAForeignSubmission(t *testing.T) {
	t.Parallel()
	g := grading(t, load(t, legacyFiles), nil)
	for name, test := range map[string]struct{ file, text, want string }{
		"its own name":              {"alice.py", "print(1)", "alice.py"},
		"a name with a space":       {"Alice Ä.py", "print(1)", "main.py"},
		"a name that is not UTF-8":  {"l\xf6sung.py", "print(1)", "main.py"},
		"an option to the compiler": {"-o.c", "int main() {}", "main.c"},
		"by its first line":         {"alice", "#!/usr/bin/env python3\nprint(1)", "alice"},
		"a public class":            {"alice.java", "import java.util.*;\n\npublic class Main {\n  public static void main(String[] a) {}\n}\n", "Main.java"},
		"a class that is not public": {
			"alice.java", "class Helper { int x; }\nclass Solve {\n  class Inner { }\n  public static void main(String... a) {}\n}\nclass After {}\n", "Solve.java",
		},
		"a class in a comment or a text": {
			"alice.java", "/*\npublic class Wrong {\n*/\n// public class Wrong2 {\nclass Main { String s = \"{\"; char c = '{';\nstatic public void main(String[] a) {}}\n", "Main.java",
		},
		"a record":            {"Sum.java", "public final class Sum { record P(int x) {} static void main(String[] a) {} }", "Sum.java"},
		"no class at all":     {"Sum.java", "void main() {}", "Sum.java"},
		"an inner class only": {"x.java", "interface I {}\nclass A { static class B { } }\nclass M { public static final void main(String[] a) { } class C {} }", "M.java"},
	} {
		made, err := foreign(g, source(test.file, test.text))
		require.NoError(t, err, name)
		require.Equal(t, test.want, made.Main, name)
		require.Equal(t, test.want, made.Files[0].Path, name)
		require.Equal(t, test.text, string(made.Files[0].Data), name)
	}
}

func TestFilesOfAForeignSubmissionKeepTheirNames(t *testing.T) {
	t.Parallel()
	g := grading(t, load(t, legacyFiles), nil)
	made, err := foreign(g, source("lib/helper.py", "X = 1"), source("main.py", "print(1)"))
	require.NoError(t, err)
	require.Equal(t, "main.py", made.Main)
	require.Equal(t, "lib/helper.py", made.Files[0].Path)
	require.Empty(t, own(t, g, load(t, legacyFiles), "submissions/accepted/sum.py").Env["PYTHONUNBUFFERED"])
	made, err = foreign(g, source("a.cpp", "int main() {}"), source("b.h", ""))
	require.NoError(t, err)
	require.Nil(t, made.Env)
}

func TestWhichOfSeveralJavaFilesHasMain(t *testing.T) {
	t.Parallel()
	g := grading(t, load(t, legacyFiles), nil)
	const starts, helps = "class X { public static void main(String[] a) {} }", "class X { /* static void main( */ }"
	for want, sources := range map[string][]sandbox.File{
		"Solve.java":     {source("A.java", helps), source("Solve.java", starts), source("Test.java", starts)},
		"Main.java":      {source("A.java", starts), source("Main.java", starts)},
		"A.java":         {source("A.java", helps), source("B.java", helps)},
		"src/Solve.java": {source("src/Solve.java", starts), source("notes.txt", starts)},
	} {
		made, err := foreign(g, sources...)
		require.NoError(t, err, want)
		require.Equal(t, want, made.Main)
	}
}

func TestForeignSubmissionsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(files{
		"problem.yaml":           "problem_format_version: 2025-09\nname: Sum\nuuid: 5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e\nlanguages: [python3, cpp]\nlimits: {code: 1}\n",
		"include/cpp/grader.cpp": "int main() { return solve(); }",
	}))
	g := grading(t, p, nil)
	for name, test := range map[string]struct {
		files []sandbox.File
		want  string
	}{
		"a language that is not known":       {[]sandbox.File{source("a.cobol", "x")}, "program alice: no file tells its language"},
		"a language that is not allowed":     {[]sandbox.File{source("a.c", "x")}, "the problem does not allow c: want one of [python3 cpp]"},
		"several languages":                  {[]sandbox.File{source("a.py", "x"), source("b.cpp", "x")}, "program alice: files in several languages: cpp, python"},
		"too much source":                    {[]sandbox.File{source("a.py", strings.Repeat("#", 1025))}, "the source is 1025 bytes: want at most 1024"},
		"which file is the main one unclear": {[]sandbox.File{source("a.py", "x"), source("b.py", "x")}, "program alice: which file of a.py, b.py is the main one is unknown: want one of main.py, main.py, Main.py, __main__.py"},
		"no file":                            {nil, "program alice: no file tells its language"},
	} {
		_, err := foreign(g, test.files...)
		require.EqualError(t, err, test.want, name)
	}

	// A file that the problem includes replaces the submission's own of the same name.
	made, err := foreign(g, source("grader.cpp", "int main() {}"), source("solve.cpp", "int solve() { return 0; }"))
	require.NoError(t, err)
	require.Len(t, made.Files, 2)
	require.Equal(t, "int main() { return solve(); }", string(made.Files[0].Data))
}
