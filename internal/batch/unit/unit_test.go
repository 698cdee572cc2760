package unit_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch/unit"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// nonce is what the judge would send.
const nonce = "n0nce"

// files makes files of path and content in turn.
func files(parts ...string) (made []sandbox.File) {
	for i := 0; i < len(parts); i += 2 {
		made = append(made, sandbox.File{Path: parts[i], Data: sandbox.Bytes(parts[i+1])})
	}
	return made
}

type trial struct {
	framework         unit.Framework
	submission, tests []sandbox.File
	want              grade.UnitReport
}

// judge runs all trials in one container of the image, without a sandbox, and compares their reports.
func judge(t *testing.T, image, language, interpreter string, trials map[string]trial) {
	t.Helper()
	var archive bytes.Buffer
	out := tar.NewWriter(&archive)
	var script strings.Builder
	script.WriteString("mkdir /tmp/w && cd /tmp/w && tar x || exit 1\n")
	var names []string
	for name, c := range trials {
		program, err := c.framework.Program(sandbox.Program{Language: language, Files: c.submission}, c.tests)
		require.NoError(t, err, name)
		folder := fmt.Sprintf("case-%d", len(names))
		for _, file := range program.Files {
			require.NoError(t, out.WriteHeader(&tar.Header{Name: folder + "/" + file.Path, Size: int64(len(file.Data)), Mode: 0o644, Typeflag: tar.TypeReg}))
			_, err := out.Write(file.Data)
			require.NoError(t, err)
		}
		fmt.Fprintf(&script, "(cd %s && printf '%s\\n' | %s %s %s; echo \"exit $?\"); echo '== end of case'\n", folder, nonce, interpreter, program.Main, strings.Join(program.Args, " "))
		names = append(names, name)
	}
	require.NoError(t, out.Close())
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, 8*time.Minute))
	defer cancel()
	run := exec.CommandContext(ctx, "docker", "run", "--rm", "-i", "--network", "none", image, "sh", "-c", script.String())
	run.Stdin = &archive
	var stderr bytes.Buffer
	run.Stderr = &stderr
	stdout, err := run.Output()
	require.NoError(t, err, stderr.String())
	outputs := strings.Split(string(stdout), "== end of case\n")
	require.Len(t, outputs, len(names)+1)
	for i, name := range names {
		lines := strings.Split(strings.TrimRight(outputs[i], "\n"), "\n")
		require.GreaterOrEqual(t, len(lines), 2, name)
		require.Equal(t, "exit 0", lines[len(lines)-1], "%s: %s", name, outputs[i])
		reported, found := strings.CutPrefix(lines[len(lines)-2], nonce+" ")
		require.True(t, found, "%s: %s", name, outputs[i])
		var got grade.UnitReport
		require.NoError(t, json.Unmarshal([]byte(reported), &got), name)
		want := trials[name].want
		require.Equal(t, want.Passed, got.Passed, "%s: %s", name, outputs[i])
		require.Len(t, got.Failed, len(want.Failed), "%s: %s", name, outputs[i])
		for j := range want.Failed {
			require.Contains(t, got.Failed[j], want.Failed[j], name)
		}
		require.Equal(t, want.Error == "", got.Error == "", "%s: %s", name, got.Error)
		require.Contains(t, got.Error, want.Error, name)
	}
}

func TestAPythonTestFilePassesWhenItEnds(t *testing.T) {
	t.Parallel()
	good, importing := files("solution.py", "def add(a, b): return a + b\n"), "from solution import add\n"
	judge(t, testenv.Image(t), "python", "python3", map[string]trial{
		"right":                        {unit.Exit, good, files("test_solution.py", importing+"assert add(1, 2) == 3\n"), grade.UnitReport{Passed: 1}},
		"output without a line end":    {unit.Exit, good, files("t.py", importing+"print(add(1, 2), end='')\n"), grade.UnitReport{Passed: 1}},
		"wrong":                        {unit.Exit, good, files("test_solution.py", importing+"assert add(1, 2) == 4, 'no'\n"), grade.UnitReport{Failed: []string{"test_solution.py: AssertionError: no"}}},
		"the submission breaks":        {unit.Exit, files("solution.py", "def add(:\n"), files("test_solution.py", importing), grade.UnitReport{Failed: []string{"SyntaxError"}}},
		"unittest's main, right":       {unit.Exit, good, files("t.py", importing+"import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(add(1,2),3)\nunittest.main()\n"), grade.UnitReport{Passed: 1}},
		"unittest's main, wrong":       {unit.Exit, good, files("t.py", importing+"import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(add(1,2),4)\nunittest.main()\n"), grade.UnitReport{Failed: []string{"t.py: exit code"}}},
		"the submission exits with 0":  {unit.Exit, files("solution.py", "import sys\ndef add(a, b): sys.exit(0)\n"), files("t.py", importing+"assert add(1, 2) == 3\n"), grade.UnitReport{Error: "the submission ended the program"}},
		"output at the end of it all":  {unit.Exit, files("solution.py", "import atexit\natexit.register(print, 'late')\ndef add(a, b): return 0\n"), files("t.py", importing), grade.UnitReport{Passed: 1}},
		"the submission reads stdin":   {unit.Exit, files("solution.py", "import sys\nsys.stdin = open(0)\nassert sys.stdin.read() == ''\nadd = 1\n"), files("t.py", importing), grade.UnitReport{Passed: 1}},
		"a helper beside the test":     {unit.Exit, good, files("t.py", importing+"import helper\nhelper.check(add)\n", "helper.py", "def check(add): assert add(1, 2) == 3\n"), grade.UnitReport{Passed: 1}},
		"no arguments are left behind": {unit.Exit, good, files("t.py", "import sys\nassert len(sys.argv) == 1, sys.argv\n"), grade.UnitReport{Passed: 1}},
		"pytest without pytest":        {unit.Pytest, good, files("test_solution.py", importing), grade.UnitReport{Error: "pytest is not in the image"}},
	})
}

func TestPytestIsCounted(t *testing.T) {
	t.Parallel()
	good, importing := files("solution.py", "def add(a, b): return a + b\n"), "import pytest\nfrom solution import add\n"
	one := importing + "def test_a(): assert add(1, 2) == 3\n"
	judge(t, testenv.FullImage(t), "python", "python3", map[string]trial{
		"right":                {unit.Pytest, good, files("test_solution.py", one), grade.UnitReport{Passed: 1}},
		"wrong and right":      {unit.Pytest, good, files("test_solution.py", one+"def test_b(): assert add(1, 2) == 4\n@pytest.mark.parametrize('n', [1, 2])\ndef test_c(n): assert add(n, n) == 2\n"), grade.UnitReport{Passed: 2, Failed: []string{"test_solution.py::test_b", "test_solution.py::test_c[2]"}}},
		"a fixture breaks":     {unit.Pytest, good, files("test_solution.py", importing+"@pytest.fixture\ndef f(): raise ValueError\ndef test_a(f): pass\n"), grade.UnitReport{Failed: []string{"test_solution.py::test_a"}}},
		"skipped and expected": {unit.Pytest, good, files("test_solution.py", one+"@pytest.mark.skip\ndef test_b(): pass\n@pytest.mark.xfail\ndef test_c(): assert False\n"), grade.UnitReport{Passed: 1}},
		"it cannot be loaded":  {unit.Pytest, files("solution.py", "raise ValueError('boom')\n"), files("test_solution.py", one), grade.UnitReport{Error: "ValueError: boom"}},
		"it ends the program":  {unit.Pytest, files("solution.py", "import sys\nsys.exit(0)\n"), files("test_solution.py", one), grade.UnitReport{Error: "test_solution.py"}},
		"no tests":             {unit.Pytest, good, files("test_solution.py", importing), grade.UnitReport{Error: "there are no tests in test_solution.py"}},
		"two files and one of help": {
			unit.Pytest, good, files("test_a.py", one, "b_test.py", "import helper\ndef test_b(): helper.check()\n", "helper.py", "def check(): pass\ndef test_not_me(): assert False\n"),
			grade.UnitReport{Passed: 2},
		},
	})
}

func TestNodesTestsAreCounted(t *testing.T) {
	t.Parallel()
	good := files("solution.js", "exports.add = (a, b) => a + b;\nconsole.log('hello');\n")
	importing := "const { test, describe, it } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./solution.js');\n"
	one := importing + "test('adds', () => assert.equal(add(1, 2), 3));\n"
	judge(t, testenv.Image(t), "node", "node", map[string]trial{
		"right":               {unit.NodeTest, good, files("solution.test.js", one), grade.UnitReport{Passed: 1}},
		"wrong and right":     {unit.NodeTest, good, files("solution.test.js", one+"test('lies', () => assert.equal(add(1, 2), 4));\n"), grade.UnitReport{Passed: 1, Failed: []string{"lies"}}},
		"tests within tests":  {unit.NodeTest, good, files("solution.test.js", importing+"describe('all', () => { it('x', () => {}); it('y', () => { throw new Error('no'); }); });\n"), grade.UnitReport{Passed: 1, Failed: []string{"y"}}},
		"skipped and todo":    {unit.NodeTest, good, files("solution.test.js", one+"test.skip('s', () => {});\ntest.todo('t', () => { throw new Error('no'); });\n"), grade.UnitReport{Passed: 1}},
		"it cannot be loaded": {unit.NodeTest, files("solution.js", "throw new Error('boom')\n"), files("solution.test.js", one), grade.UnitReport{Error: "solution.test.js"}},
		"it ends the program": {unit.NodeTest, files("solution.js", "process.exit(0)\n"), files("solution.test.js", one), grade.UnitReport{Error: "no test has ended"}},
		"no tests":            {unit.NodeTest, good, files("solution.test.js", importing), grade.UnitReport{Error: "no test has ended"}},
		"a module":            {unit.NodeTest, files("solution.mjs", "export const add = (a, b) => a + b;\n"), files("a.test.mjs", "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './solution.mjs';\ntest('adds', () => assert.equal(add(1, 2), 3));\n"), grade.UnitReport{Passed: 1}},

		"a file, right":               {unit.Exit, good, files("t.js", importing+"assert.equal(add(1, 2), 3);\n"), grade.UnitReport{Passed: 1}},
		"a file, wrong":               {unit.Exit, good, files("t.js", importing+"assert.equal(add(1, 2), 4, 'no');\n"), grade.UnitReport{Failed: []string{"t.js: no"}}},
		"a file, wrong later":         {unit.Exit, good, files("t.js", importing+"setTimeout(() => assert.equal(add(1, 2), 4, 'no'), 10);\n"), grade.UnitReport{Failed: []string{"t.js: no"}}},
		"a file, a promise is broken": {unit.Exit, good, files("t.js", "Promise.reject(new Error('no'));\n"), grade.UnitReport{Failed: []string{"t.js: no"}}},
		"a file, ended":               {unit.Exit, files("solution.js", "exports.add = () => process.exit(0);\n"), files("t.js", importing+"assert.equal(add(1, 2), 4);\n"), grade.UnitReport{Error: "ended itself"}},
		"a file, cannot be loaded":    {unit.Exit, files("solution.js", "exports.add = (\n"), files("t.js", importing), grade.UnitReport{Failed: []string{"t.js: "}}},
		"a file, a module":            {unit.Exit, good, files("t.mjs", "import assert from 'node:assert';\nimport s from './solution.js';\nassert.equal(s.add(1, 2), await Promise.resolve(3));\n"), grade.UnitReport{Passed: 1}},
	})
}

func TestWhatCannotBeMadeIsSaid(t *testing.T) {
	t.Parallel()
	submission := files("solution.py", "x = 1\n")
	for name, c := range map[string]struct {
		framework unit.Framework
		language  string
		tests     []sandbox.File
		want      string
	}{
		"an unknown framework":      {"junit", "python", files("test_a.py", ""), `framework: "junit" is unknown: want one of ["pytest" "node:test" "exit"]`},
		"another language":          {unit.Pytest, "cpp", files("test_a.py", ""), `framework: "pytest" does not run cpp: want the language python`},
		"two languages":             {unit.Exit, "cpp", files("a.cpp", ""), "want the language node or python"},
		"no tests":                  {unit.Exit, "python", nil, "files: there are none"},
		"no file named as tests":    {unit.Pytest, "python", files("a.py", ""), `want one such as "test_solution.py"`},
		"a file that is both sides": {unit.Pytest, "python", files("test_a.py", "", "solution.py", ""), `"solution.py" is a file of the submission and of its tests`},
	} {
		_, err := c.framework.Program(sandbox.Program{Language: c.language, Files: submission}, c.tests)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestFilesWithoutANameGetOne(t *testing.T) {
	t.Parallel()
	submission, err := unit.Exit.SubmissionName("node")
	require.NoError(t, err)
	require.Equal(t, "solution.js", submission)
	test, err := unit.Pytest.TestName("python")
	require.NoError(t, err)
	require.Equal(t, "test_solution.py", test)
	_, err = unit.NodeTest.TestName("python")
	require.Error(t, err)
}
