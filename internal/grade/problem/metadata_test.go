package problem_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
)

func TestTheLeastLegacyPackage(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles)
	require.Empty(t, p.Warnings)
	require.Equal(t, problem.Metadata{
		Version: "legacy", Names: map[string]string{"": "Sum"}, License: "unknown",
		Limits: problem.Limits{ACToLimit: 5, LimitToTLE: 2},
	}, p.Metadata)
	require.Equal(t, "Sum", p.Name())
	require.True(t, p.AllowsLanguage("python"))
}

func TestTheLeastCurrentPackage(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles)
	require.Empty(t, p.Warnings)
	require.Equal(t, problem.Metadata{
		Version: "2025-09", Names: map[string]string{"en": "Sum"}, License: "unknown",
		UUID: "5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e",
	}, p.Metadata)
}

func TestALegacyProblemWithEveryKey(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"output_validators/check.py": "exit(42)\n", "problem.yaml": `
problem_format_version: legacy
type: scoring
name: "1234"
uuid: anything
author: A and B
source: Contest
source_url: http://example.org
license: cc by-sa
rights_owner: A
limits:
  time_multiplier: 3
  time_safety_margin: 1.5
  memory: 512
  output: 4
  code: 64
  compilation_time: 30
  compilation_memory: 1024
  validation_time: 20
  validation_memory: 256
  validation_output: 2
validation: custom score
validator_flags: a  b
grading:
  objective: min
  show_test_data_groups: true
keywords: easy sum
`}))
	require.Empty(t, p.Warnings)
	require.Equal(t, problem.Metadata{
		Version: "legacy", Names: map[string]string{"": "1234"}, UUID: "anything", License: "cc by-sa", RightsOwner: "A",
		Scoring: true, Minimize: true, CustomValidation: true, CustomScore: true, ValidatorFlags: []string{"a", "b"},
		Limits: problem.Limits{
			ACToLimit: 3, LimitToTLE: 1.5, Memory: 512 << 20, Output: 4 << 20, Code: 64 << 10, CompileTime: 30 * time.Second,
			CompileMemory: 1 << 30, ValidationTime: 20 * time.Second, ValidationMemory: 256 << 20, ValidationOutput: 2 << 20,
		},
	}, p.Metadata)
}

func TestACurrentProblemWithEveryKey(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(files{"output_validator/check.py": "exit(42)\n", "problem.yaml": `
problem_format_version: 2023-07-draft
type: [pass-fail, interactive, multi-pass]
name: {de: Summe, en: Sum, pt-BR: Soma}
uuid: 5CA6BA5B-36d5-4eff-8aa7-d967cbc4375e
version: "1.0"
credits: {authors: [{name: A}, B]}
source: [{name: Contest, url: http://example.org}]
license: public domain
embargo_until: 2026-01-01
limits:
  time_limit: 2.5
  time_resolution: 0.1
  time_multipliers: {ac_to_time_limit: 3, time_limit_to_tle: 2}
  memory: 1024
  validation_passes: 4
keywords: [easy]
languages: [cpp, python3]
allow_file_writing: true
constants: {n: 100, word: abc, pi: 3.14}
`}))
	require.Empty(t, p.Warnings)
	require.Equal(t, problem.Metadata{
		Version: "2023-07", Names: map[string]string{"de": "Summe", "en": "Sum", "pt-BR": "Soma"},
		UUID: "5CA6BA5B-36d5-4eff-8aa7-d967cbc4375e", License: "public domain",
		Interactive: true, MultiPass: true, CustomValidation: true, AllowFileWriting: true,
		Languages: []string{"cpp", "python3"}, Constants: map[string]string{"n": "100", "word": "abc", "pi": "3.14"},
		Limits: problem.Limits{
			Time: 2500 * time.Millisecond, Resolution: 100 * time.Millisecond, ACToLimit: 3, LimitToTLE: 2,
			Memory: 1 << 30, ValidationPasses: 4,
		},
	}, p.Metadata)
	require.True(t, p.AllowsLanguage("python", "py"))
	require.True(t, p.AllowsLanguage("cpp"))
	require.False(t, p.AllowsLanguage("java"))
}

func TestEveryFaultOfAPackageIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	got := issues(t, legacyFiles.with(files{
		"problem.yaml": `name: 12
type: interesting
license: mine
limits:
  memory: -1
  output: 1.5
  code: lots
  time_multiplier: .nan
  validation_time: .inf
validation: default interactive
validator_flags: case_sensitive float_tolerance
name: Sum
`,
		"data/secret/2.in":       "1\n",
		"data/secret/3.ans":      "1\n",
		"data/testdata.yaml":     "on_reject: stop\ngrading: custom\ngrader_flags: first_error most\n",
		"submissions/accepted/b": "@EXPECTED_RESULTS@: TIMELIMIT\n",
	}))
	require.Equal(t, []string{
		`data/secret/2.in: has no answer file: want 2.ans beside it`,
		`data/secret/3.ans: has no input file: want 3.in beside it`,
		`data/testdata.yaml: grader flag "most" is unknown: want one of worst_error, first_error, always_accept, sum, avg, min, max, ignore_sample, accept_if_any_accepted`,
		`data/testdata.yaml:1: on_reject: "stop": want one of break, continue`,
		`data/testdata.yaml:2: grading: custom graders are not supported: want default`,
		`problem.yaml: float_tolerance needs a number after it`,
		`problem.yaml:2: type: "interesting": want pass-fail or scoring`,
		`problem.yaml:3: license: "mine": want one of unknown, public domain, cc0, cc by, cc by-sa, educational, permission`,
		`problem.yaml:5: limits.memory: -1: want a number from 1 to 1048576`,
		`problem.yaml:6: limits.output: 1.5: want a whole number`,
		`problem.yaml:7: limits.code: want a number, got "lots"`,
		`problem.yaml:8: limits.time_multiplier: want a number, got ".nan"`,
		`problem.yaml:9: limits.validation_time: .inf: want a number from 0.001 to 86400`,
		`problem.yaml:10: validation: "default interactive": want default, or custom and then any of score and interactive`,
		`problem.yaml:12: name: is given twice`,
		`submissions/accepted/b: is annotated with TLE and lies in accepted`,
	}, withoutGraderRepeats(got))
}

// withoutGraderRepeats drops what every group says again that inherited the fault.
func withoutGraderRepeats(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if !strings.HasPrefix(text, "data/secret/testdata.yaml") && !strings.HasPrefix(text, "data/sample/testdata.yaml") {
			kept = append(kept, text)
		}
	}
	return kept
}

func TestFaultsOfCurrentMetadata(t *testing.T) {
	t.Parallel()
	const head = "problem_format_version: 2025-09\nname: Sum\nuuid: 5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e\n"
	for name, test := range map[string]struct{ yaml, want string }{
		"no uuid":               {"problem_format_version: 2025-09\nname: Sum\n", "problem.yaml: uuid: is missing: want a UUID"},
		"no name":               {"problem_format_version: 2025-09\nuuid: 5ca6ba5b-36d5-4eff-8aa7-d967cbc4375e\n", "problem.yaml: name: is missing: want a text, or a map of language codes to texts"},
		"another version":       {"problem_format_version: 2099-01\nname: Sum\n", `problem.yaml:1: problem_format_version: "2099-01": want one of legacy, legacy-icpc, 2023-07, 2023-07-draft, 2025-09`},
		"types that exclude":    {head + "type: [pass-fail, scoring]\n", "problem.yaml:4: type: pass-fail and scoring exclude each other"},
		"a type twice":          {head + "type: [pass-fail, pass-fail]\n", "problem.yaml:4: type: pass-fail is given twice"},
		"an unknown type":       {head + "type: output-only\n", `problem.yaml:4: type: "output-only": want any of pass-fail, scoring, multi-pass, interactive, submit-answer`},
		"no type at all":        {head + "type: []\n", "problem.yaml:4: type: is empty: want at least one type"},
		"a type of its own":     {head + "type: {a: b}\n", "problem.yaml:4: type: want a sequence of texts, got a map"},
		"passes of one pass":    {head + "limits: {validation_passes: 3}\n", "problem.yaml:4: limits: validation_passes is only for problems of type multi-pass"},
		"limits that are none":  {head + "limits: 5\n", "problem.yaml:4: limits: want a map of keys to values"},
		"no time at all":        {head + "limits: {time_limit: 0}\n", "problem.yaml:4: limits.time_limit: 0: want a number from 0.001 to 86400"},
		"time for ever":         {head + "limits: {time_limit: 1e30}\n", "problem.yaml:4: limits.time_limit: 1e30: want a number from 0.001 to 86400"},
		"a constant's name":     {head + "constants: {1a: 1}\n", "problem.yaml:4: constants.1a: want a name of letters, digits and _ that does not begin with a digit"},
		"a constant's value":    {head + "constants: {a: [1]}\n", "problem.yaml:4: constants.a: want a number or a text, got a sequence"},
		"a truth value":         {head + "allow_file_writing: sometimes\n", `problem.yaml:4: allow_file_writing: want true or false, got "sometimes"`},
		"no language":           {head + "languages: []\n", "problem.yaml:4: languages: want all or a sequence of at least one language"},
		"a number in a list":    {head + "languages: [cpp, 2]\n", `problem.yaml:4: languages: want texts, got "2"; quotes make it one`},
		"interaction with none": {head + "type: interactive\n", "problem.yaml: is interactive or multi-pass: want an output validator in output_validator"},
		"answers as submission": {head + "type: submit-answer\n", "problem.yaml: problems of type submit-answer are not supported"},
		"two documents":         {head + "---\na: b\n", "problem.yaml: holds several YAML documents: want one"},
		"a list":                {"- a\n", "problem.yaml:1: want a map of keys to values"},
		"no YAML":               {"a: [\n", "problem.yaml: is no YAML: line 1: did not find expected node content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, issues(t, currentFiles.with(files{"problem.yaml": test.yaml})), test.want)
		})
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"problem.yaml": "name: Sum\ncolour: red\nlimits:\n  stack: 1\n"}))
	require.Equal(t, []string{"problem.yaml:2: colour: is an unknown key and is ignored", "problem.yaml:4: limits.stack: is an unknown key and is ignored"}, warnings(p))
}

func TestAnEmptyProblemFileIsALegacyPackage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"# nothing\n", "---\n", "null\n", "name:\n"} {
		p := load(t, legacyFiles.with(files{"problem.yaml": text}))
		require.Equal(t, "sum", p.Name(), "the folder's name stands in")
	}
}

func TestAFolderWithoutProblemFile(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"holds neither problem.yaml nor domjudge-problem.ini: want the folder of a problem package"}, issues(t, files{"a": "b"}))
}

func TestOldGradingKeysOverrideEveryGroup(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{
		"problem.yaml":              "type: scoring\ngrading: {accept_score: 7, reject_score: 2, range: 0 7, on_reject: grade}\n",
		"data/secret/testdata.yaml": "accept_score: 5\non_reject: break\n",
	}))
	require.Empty(t, p.Warnings)
	require.Equal(t, number(7.0), scoreOf(t, p, "secret/1=AC"))
	require.Equal(t, number(2.0), scoreOf(t, p, "secret/1=WA"))
	require.False(t, p.Root.Break)
}
