package grade_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// suite is a valid suite with two tests, groups and a validator.
func suite() *grade.Suite {
	wall := sandbox.Seconds(2 * time.Second)
	return &grade.Suite{
		Name: "Adding Numbers", Root: &grade.Group{Rule: grade.LegacyRule{}, Items: append(tests("sample/1"), groups(&grade.Group{
			Name: "secret", Rule: grade.NewLegacyRule(true), RequirePass: []string{"sample/1"}, Items: tests("secret/1"),
		})...)},
		Tests: []grade.Test{
			{Name: "sample/1", Input: grade.Data{Inline: sandbox.Bytes("1 2\n")}, Answer: grade.Data{Inline: sandbox.Bytes("3\n")}},
			{
				Name: "secret/1", Input: grade.Data{Blob: grade.BlobID([]byte("9 9\n")), Size: 4}, Args: []string{"-v"}, WallTime: &wall,
				Files: []grade.DataFile{{Path: "data/x", Data: grade.Data{Inline: sandbox.Bytes{0xff}}}}, ValidatorFlags: []string{"strict"},
				Tokens: grade.TokenOptions{Absolute: score(1e-6)},
			},
		},
		Checker: grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{{Language: "python", Source: sandbox.Bytes("exit(42)")}}},
	}
}

func TestSuiteComesBackFromJSON(t *testing.T) {
	t.Parallel()
	require.NoError(t, suite().Validate())
	text, err := json.Marshal(suite())
	require.NoError(t, err)
	back, err := grade.DecodeSuite(text)
	require.NoError(t, err)
	require.Equal(t, suite(), back)
}

func TestDecodeSuiteRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                       "suite: EOF",
		`null`:                                   "suite: is null: want an object",
		`{"tests":[]}`:                           "suite.tests: are 0: want 1 to 20000",
		`{"tests":[{}]}`:                         "suite.tests[0].name: is empty",
		`{"test":[]}`:                            `unknown field "test"`,
		`{"tests":[{"name":"a","checker":"x"}]}`: `unknown field "checker"`,
		`{"tests":[{"name":"a"}]}{}`:             "suite: something follows the object",
		`{"tests":[{"name":"a"}],"groups":{}}`:   "has no rule or two",
		`{"tests":[{"name":"a"}],"groups":{"bias":1}}`:   `unknown field "bias"`,
		`{"tests":[{"name":"a","cpu_seconds":0}]}`:       "suite.tests[0].cpu_seconds: 0s: want 10ms to 168h0m0s",
		`{"tests":[{"name":"a","wall_seconds":1e7}]}`:    "suite.tests[0].wall_seconds: 2777h46m40s: want 10ms to 168h0m0s",
		`{"tests":[{"name":"a"}],"checker":{"kind":""}}`: "",
	} {
		_, err := grade.DecodeSuite([]byte(text))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
}

func TestValidateNamesWhatIsWrongWithASuite(t *testing.T) {
	t.Parallel()
	nested := &grade.Group{Rule: grade.LegacyRule{}}
	for range 64 {
		nested = &grade.Group{Name: "g", Rule: grade.LegacyRule{}, Items: groups(nested)}
	}
	for name, test := range map[string]struct {
		change func(*grade.Suite)
		want   string
	}{
		"control character in the name": {func(s *grade.Suite) { s.Name = "a\x1b[2J" }, `suite.name: "a\x1b[2J" holds the unprintable character U+001B`},
		"two tests of one name":         {func(s *grade.Suite) { s.Tests[1].Name = "sample/1" }, `suite.tests[1].name: "sample/1" is given twice`},
		"a long name":                   {func(s *grade.Suite) { s.Tests[0].Name = strings.Repeat("x", 1025) }, "suite.tests[0].name: is 1025 bytes: want at most 1024"},
		"a name that is not text":       {func(s *grade.Suite) { s.Tests[0].Name = "\xff" }, `suite.tests[0].name: "\xff" is not valid UTF-8`},
		"too many tests":                {func(s *grade.Suite) { s.Tests = make([]grade.Test, 20_001) }, "suite.tests: are 20001: want 1 to 20000"},
		"data twice":                    {func(s *grade.Suite) { s.Tests[1].Input.Inline = sandbox.Bytes("x") }, "suite.tests[1].input.blob: is given beside inline: want one of them"},
		"no blob's id":                  {func(s *grade.Suite) { s.Tests[1].Input.Blob = "../x" }, `suite.tests[1].input.blob: "../x" is no blob's id: want 64 hex digits in lower case`},
		"a large blob":                  {func(s *grade.Suite) { s.Tests[1].Input.Size = 128<<20 + 1 }, "suite.tests[1].input.size: 134217729: want 0 to 134217728"},
		"a size without a blob":         {func(s *grade.Suite) { s.Tests[0].Answer.Size = 2 }, "suite.tests[0].answer.size: 2 is given without a blob"},
		"a file's data":                 {func(s *grade.Suite) { s.Tests[1].Files[0].Data.Blob = "x" }, "suite.tests[1].files[0].data.blob: is given beside inline"},
		"a file outside":                {func(s *grade.Suite) { s.Tests[1].Files[0].Path = "../x" }, `suite.tests[1].files[0].path: "../x" is not a clean relative path`},
		"a NUL in an argument":          {func(s *grade.Suite) { s.Tests[0].Args = []string{"a", "\x00"} }, "suite.tests[0].args[1]: holds a NUL byte"},
		"a NUL in a flag":               {func(s *grade.Suite) { s.Tests[0].ValidatorFlags = []string{"\x00"} }, "suite.tests[0].validator_flags.args[0]: holds a NUL byte"},
		"a negative tolerance":          {func(s *grade.Suite) { s.Tests[1].Tokens.Absolute = score(-1) }, "suite.tests[1].tokens.float_absolute_tolerance: -1: want a number that is not negative"},
		"no tolerance at all":           {func(s *grade.Suite) { s.Tests[1].Tokens.Relative = score(math.NaN()) }, "suite.tests[1].tokens.float_relative_tolerance: NaN"},
		"an unknown checker":            {func(s *grade.Suite) { s.Checker.Kind = "vibes" }, `suite.checker.kind: "vibes" is unknown: want one of ["exact" "interactive" "none" "testlib" "text" "tokens" "unit" "validator"]`},
		"a validator without a program": {func(s *grade.Suite) { s.Checker.Programs = nil }, `suite.checker.programs: are 0: want 1 to 16 for a checker of the kind "validator"`},
		"tokens with a program":         {func(s *grade.Suite) { s.Checker.Kind = grade.CheckTokens }, `suite.checker.programs: are 1: want 0 to 0`},
		"two to talk with": {func(s *grade.Suite) {
			s.Checker = grade.Checker{Kind: grade.CheckInteractive, Programs: append(s.Checker.Programs, s.Checker.Programs...)}
		}, "suite.checker.programs: are 2: want 1 to 1"},
		"a checker without a language": {func(s *grade.Suite) { s.Checker.Programs[0].Language = "" }, "suite.checker.programs[0].language: is empty"},
		"a checker with input":         {func(s *grade.Suite) { s.Checker.Programs[0].Stdin = sandbox.Bytes("x") }, "suite.checker.programs[0].stdin: is 1 bytes: want none"},
		"a checker in another's batch": {func(s *grade.Suite) { s.Checker.Programs[0].Reuse = "kabc" }, `suite.checker.programs[0].reuse: "kabc": want none`},
		"a test in no group":           {func(s *grade.Suite) { s.Root.Items = s.Root.Items[:1] }, `suite.groups: the test "secret/1" is in no group`},
		"a test in two groups":         {func(s *grade.Suite) { s.Root.Items[1].Group.Items = tests("secret/1", "sample/1") }, `suite.groups.items[1].group.items[1].test: "sample/1" is no test of the suite, or in two groups`},
		"a test that is not there":     {func(s *grade.Suite) { s.Root.Items[0].Test = "sample/2" }, `suite.groups.items[0].test: "sample/2" is no test of the suite`},
		"an empty item":                {func(s *grade.Suite) { s.Root.Items[0].Test = "" }, "suite.groups.items[0]: holds a test and a group, or neither"},
		"a group without a name":       {func(s *grade.Suite) { s.Root.Items[1].Group.Name = "" }, "suite.groups.items[1].group.name: is empty"},
		"a group without a rule":       {func(s *grade.Suite) { s.Root.Rule = nil }, "suite.groups: has no rule: want one of legacy, scoring"},
		"a group that waits for itself": {
			func(s *grade.Suite) { s.Root.Items[1].Group.RequirePass = []string{"secret"} },
			`suite.groups.items[1].group.require_pass: "secret" is no test or group that is judged before`,
		},
		"a range turned over": {func(s *grade.Suite) { s.Root.Rule = grade.LegacyRule{Min: 2, Max: 1} }, "suite.groups.legacy: the range is from 2 to 1"},
		"infinite points":     {func(s *grade.Suite) { s.Root.Rule = grade.LegacyRule{Accept: math.Inf(1)} }, "suite.groups.legacy.accept: +Inf: want a finite number"},
		"an infinite maximum": {func(s *grade.Suite) { s.Root.Rule = grade.ScoringRule{Max: score(math.Inf(1))} }, "suite.groups.scoring.max: +Inf: want a finite number"},
		"groups too deep":     {func(s *grade.Suite) { s.Root = nested }, "lies more than 64 groups deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := suite()
			test.change(s)
			require.ErrorContains(t, s.Validate(), test.want)
		})
	}
}

func TestAnErrorIsNotAsLongAsTheSuite(t *testing.T) {
	t.Parallel()
	err := (&grade.Suite{Tests: make([]grade.Test, 1000)}).Validate()
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 21)
	require.Equal(t, "and 1979 more", lines[20], "1000 empty names, 999 of them given before")
}

func TestValidateNamesWhatIsWrongWithATask(t *testing.T) {
	t.Parallel()
	id := grade.BlobID([]byte("{}"))
	report := grade.TestReport{Name: "sample/1", Finding: grade.Finding{Verdict: grade.WA}}
	known := map[string]grade.TestReport{"sample/1": report}
	for _, valid := range []grade.Task{
		{Suite: suite()}, {SuiteBlob: id, Mode: grade.Everything, KeepOutput: -1}, {SuiteBlob: id, Mode: grade.FirstFailure, KeepOutput: 1 << 20, Known: known},
	} {
		require.NoError(t, valid.Validate())
	}
	broken := suite()
	broken.Tests[0].Name = ""
	for want, task := range map[string]grade.Task{
		"suite: is not given: want it or suite_blob":                 {},
		"suite_blob: is given beside suite: want one of them":        {Suite: suite(), SuiteBlob: id},
		fmt.Sprintf("suite_blob: %q is no blob's id", id[1:]):        {SuiteBlob: id[1:]},
		fmt.Sprintf("suite_blob: %q is no", strings.ToUpper(id)):     {SuiteBlob: strings.ToUpper(id)},
		"suite.tests[0].name: is empty":                              {Suite: broken},
		`mode: "all" is unknown: want one of "first_failure", "eve`:  {SuiteBlob: id, Mode: "all"},
		"keep_output: 1048577: want at most 1048576":                 {SuiteBlob: id, KeepOutput: 1<<20 + 1},
		`known: the report under "x" is of the test "sample/1"`:      {SuiteBlob: id, Known: map[string]grade.TestReport{"x": report}},
		`known: the report on "a" has the verdict "": want one of [`: {SuiteBlob: id, Known: map[string]grade.TestReport{"a": {Name: "a"}}},
		"known: holds 20001 reports: want at most 20000":             {SuiteBlob: id, Known: many(20_001)},
	} {
		require.ErrorContains(t, task.Validate(), want)
	}
}

func many(count int) map[string]grade.TestReport {
	reports := map[string]grade.TestReport{}
	for i := range count {
		reports[fmt.Sprint(i)] = grade.TestReport{}
	}
	return reports
}
