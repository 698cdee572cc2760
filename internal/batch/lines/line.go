package lines

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// fileMap are files by path.
type fileMap map[string]sandbox.Bytes

// line is one submission as it is written.
type line struct {
	id                    identifier
	group, language, main string
	code                  sandbox.Bytes
	files                 fileMap
	args                  []string
	env                   map[string]string
	limits                sandbox.Overrides
	tests                 []test
	checker               grade.Checker
	tokens                grade.TokenOptions
	unit                  *unitTests
	expect                []grade.Verdict
}

// test is one run of a submission.
type test struct {
	name     string
	stdin    sandbox.Bytes
	expected *sandbox.Bytes // nil is none given
	args     []string
	files    fileMap
}

// unitTests are tests in files of their own, run by a framework.
type unitTests struct {
	framework, main string
	code            sandbox.Bytes
	files           fileMap
}

// identifier is a string, or a whole number that is taken as one.
type identifier string

// UnmarshalJSON reads either form.
func (i *identifier) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*i = identifier(text)
		return nil
	}
	if number, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		*i = identifier(strconv.FormatInt(number, 10))
		return nil
	}
	return fmt.Errorf("%.80s: want a string or a whole number", data)
}

// decode reads a line; the errors tell all that is wrong with its form.
func decode(data []byte) (l line, errs []error) {
	o, ok := open("", data, &errs)
	if !ok {
		return l, errs
	}
	o.read("id", &l.id)
	o.read("group", &l.group)
	o.read("language", &l.language)
	o.read("code", &l.code)
	o.read("files", &l.files)
	o.read("main", &l.main)
	o.read("args", &l.args)
	o.read("env", &l.env)
	l.tests = decodeTests(o)
	kind, tokens := decodeChecker(o)
	decodeLimits(o, &l.limits)
	l.unit = decodeUnit(o)
	l.expect = decodeExpect(o)
	o.end()
	if len(errs) == 0 {
		errs = l.judgedBy(o, kind, tokens)
	}
	return l, errs
}

// decodeTests reads the tests: a list, or the one that stdin and expected make, or none.
func decodeTests(o *object) (tests []test) {
	var single test
	o.read("stdin", &single.stdin)
	o.read("expected", &single.expected)
	var raw []json.RawMessage
	o.read("tests", &raw)
	for i, data := range raw {
		t, ok := open(fmt.Sprintf("tests[%d]", i), data, o.errs)
		if !ok {
			continue
		}
		read := test{name: strconv.Itoa(i + 1)}
		t.read("name", &read.name)
		t.read("stdin", &read.stdin)
		t.read("expected", &read.expected)
		t.read("args", &read.args)
		t.read("files", &read.files)
		t.end()
		tests = append(tests, read)
	}
	if o.has("tests") {
		for _, name := range []string{"stdin", "expected"} {
			if o.has(name) {
				o.refuse(name, fmt.Errorf("is given beside tests: want it in each of these"))
			}
		}
		if len(raw) == 0 {
			o.refuse("tests", fmt.Errorf("is empty: want a test, or no tests at all to judge by the exit code"))
		}
		return tests
	}
	single.name = "1"
	return []test{single}
}

func decodeLimits(o *object, limits *sandbox.Overrides) {
	data := o.raw("limits")
	if data == nil {
		return
	}
	l, ok := open("limits", data, o.errs)
	if !ok {
		return
	}
	l.read("cpu_seconds", &limits.CPUTime)
	l.read("wall_seconds", &limits.WallTime)
	l.read("compile_seconds", &limits.CompileTime)
	l.read("memory_bytes", &limits.Memory)
	l.read("cpus", &limits.CPUs)
	l.read("pids", &limits.PIDs)
	l.read("output_bytes", &limits.Output)
	l.read("output_kill_bytes", &limits.OutputKill)
	l.read("tmp_bytes", &limits.Tmp)
	l.read("workspace_bytes", &limits.Workspace)
	l.read("open_files", &limits.OpenFiles)
	l.end()
}

func decodeUnit(o *object) *unitTests {
	data := o.raw("unit")
	if data == nil {
		return nil
	}
	u, ok := open("unit", data, o.errs)
	if !ok {
		return nil
	}
	unit := &unitTests{}
	u.read("framework", &unit.framework)
	u.read("code", &unit.code)
	u.read("files", &unit.files)
	u.read("main", &unit.main)
	u.end()
	if (len(unit.code) > 0) == (len(unit.files) > 0) {
		u.refuse("code", fmt.Errorf("want either code or files with the tests"))
	}
	for _, name := range []string{"tests", "stdin", "expected", "args", "checker"} {
		if o.has(name) {
			o.refuse(name, fmt.Errorf("is given beside unit: want one of them"))
		}
	}
	return unit
}

// decodeExpect reads a verdict or a list of them.
func decodeExpect(o *object) (expect []grade.Verdict) {
	data := o.raw("expect")
	if data == nil {
		return nil
	}
	var names []string
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		names = []string{one}
	} else if err := json.Unmarshal(data, &names); err != nil || len(names) == 0 {
		o.refuse("expect", fmt.Errorf("%.80s: want a verdict or a list of them", data))
		return nil
	}
	for _, name := range names {
		verdict, err := grade.ParseVerdict(name)
		if err != nil || verdict == grade.IE { // which is our own failure and nothing to expect
			o.refuse("expect", fmt.Errorf("%.80q: want AC, WA, TLE, MLE, OLE, RE or CE", name))
			continue
		}
		expect = append(expect, verdict)
	}
	return expect
}
