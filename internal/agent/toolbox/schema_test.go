package toolbox

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestToolsDependOnTheSession(t *testing.T) {
	t.Parallel()
	names := func(specs []agent.ToolSpec) (names []string) {
		for _, spec := range specs {
			names = append(names, spec.Name)
		}
		return names
	}
	plain, _ := setup(t)
	require.Equal(t, []string{"run_code", "run_command", "submit_job", "wait_job", "cancel_job"}, names(plain.Specs()))
	session, _ := setup(t, inSession())
	require.Equal(t, []string{"run_code", "run_command", "write_file", "read_file", "list_files", "submit_job", "wait_job", "cancel_job"}, names(session.Specs()))

	onlyPython, err := sandbox.NewLanguages([]sandbox.Language{{Name: "python", Image: "i", File: "f", Run: []string{"python3"}}})
	require.NoError(t, err)
	withoutBash, _ := setup(t, func(o *Options) { o.Languages = onlyPython })
	require.Equal(t, []string{"run_code", "submit_job", "wait_job", "cancel_job"}, names(withoutBash.Specs()), "commands are run by bash")
}

func TestSchemaOfRunCode(t *testing.T) {
	t.Parallel()
	box, _ := setup(t, inSession())
	var schema struct {
		Type                 string
		Required             []string
		AdditionalProperties bool
		Properties           map[string]struct {
			Type             string
			Description      string
			Minimum, Maximum *float64
			MinLength        *int
			Items            *struct {
				Type       string
				Required   []string
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(box.Specs()[0].Schema, &schema))
	require.Equal(t, "object", schema.Type)
	require.ElementsMatch(t, []string{"language", "code"}, schema.Required)
	require.Len(t, schema.Properties, 6)
	require.Equal(t, "string", schema.Properties["code"].Type)
	require.Equal(t, 1, *schema.Properties["code"].MinLength)
	require.Equal(t, "number", schema.Properties["timeout"].Type)
	require.InDelta(t, 0.1, *schema.Properties["timeout"].Minimum, 1e-9)
	require.InDelta(t, 900, *schema.Properties["timeout"].Maximum, 1e-9)
	require.Equal(t, "array", schema.Properties["files"].Type)
	require.Equal(t, []string{"path", "content"}, schema.Properties["files"].Items.Required)
	require.Equal(t, []string{"text", "base64"}, schema.Properties["files"].Items.Properties["encoding"].Enum)
	require.Equal(t, "boolean", schema.Properties["restart"].Type)
	for name, property := range schema.Properties {
		require.NotEmpty(t, property.Description, name)
	}
}

func TestOnlyALiveSessionCanRestart(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*Options){func(*Options) {}, func(o *Options) { inSession()(o); o.Live = false }} {
		box, queue := setup(t, change)
		require.NotContains(t, string(box.Specs()[0].Schema), "restart")
		got := call(t, box, "run_code", `{"language": "python", "code": "1", "restart": true}`, nil)
		require.True(t, got.IsError)
		require.Contains(t, got.Text, "restart is unknown: want only code, files, language, stdin, timeout")
		require.Empty(t, queue.submitted)
	}
}

func TestWrongArgumentsNameFieldValueAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, inSession())
	const before, after = "[%s was not called, since its arguments are wrong: ", ". Call it again with these repaired]"
	for _, c := range []struct{ tool, arguments, want string }{
		{"run_code", `{"language": "python"`, "they are no JSON (unexpected end of JSON input)"},
		{"run_code", `[1]`, "they are the array [1]: want an object"},
		{"run_code", ``, "language is missing: want a string that is not empty; code is missing: want a string that is not empty"},
		{"run_code", `{"language": 3, "code": ["x"]}`, `code is the array ["x"]: want a string that is not empty; language is the number 3: want a string that is not empty`},
		{"run_code", `{"language": "python", "code": ""}`, `code is the string "": want a string that is not empty`},
		{"run_code", `{"language": "python", "code": null}`, `code is null: want a string that is not empty`},
		{"run_code", `{"language": "python", "code": "1", "timeout": "30"}`, `timeout is the string "30": want a number of at least 0.1 and at most 900`},
		{"run_code", `{"language": "python", "code": "1", "timeout": 3600}`, `timeout is the number 3600: want a number of at least 0.1 and at most 900`},
		{"run_code", `{"language": "python", "code": "1", "timeout": -1}`, `timeout is the number -1: want a number of at least 0.1 and at most 900`},
		{"run_code", `{"language": "python", "code": "1", "lang": "x"}`, `lang is unknown: want only code, files, language, restart, stdin, timeout`},
		{"run_code", `{"language": "python", "code": "1", "restart": "yes"}`, `restart is the string "yes": want true or false`},
		{"run_code", `{"language": "python", "code": "1", "files": {"a": "b"}}`, `files is the object {"a":"b"}: want an array of objects with content, encoding, path`},
		{"run_code", `{"language": "python", "code": "1", "files": ["a"]}`, `files[0] is the string "a": want an object with content, encoding, path`},
		{"run_code", `{"language": "python", "code": "1", "files": [{"path": "a", "content": "b"}, {"path": "", "encoding": "utf8"}]}`, `files[1].content is missing: want a string; files[1].encoding is the string "utf8": want one of "text", "base64"; files[1].path is the string "": want a string that is not empty`},
		{"run_command", `{"argv": "ls -l"}`, `argv is the string "ls -l": want an array of at least one string`},
		{"run_command", `{"argv": []}`, `argv is the array []: want an array of at least one string`},
		{"run_command", `{"argv": ["ls", 1]}`, `argv[1] is the number 1: want a string`},
		{"read_file", `{"path": "a", "offset": 0}`, `offset is the number 0: want a whole number of at least 1`},
		{"read_file", `{"path": "a", "limit": 2.5}`, `limit is the number 2.5: want a whole number of at least 1 and at most 2000`},
		{"list_files", `{"path": "."}`, `path is unknown: want only an empty object`},
		{"wait_job", `{}`, `id is missing: want a string that is not empty`},
	} {
		got := call(t, box, c.tool, c.arguments, nil)
		require.True(t, got.IsError, c.arguments)
		require.Equal(t, "["+c.tool+before[len("[%s"):]+c.want+after, got.Text)
	}
	require.Empty(t, queue.submitted)
}

func TestALongWrongValueIsCut(t *testing.T) {
	t.Parallel()
	long := make([]byte, 10000)
	for i := range long {
		long[i] = 'x'
	}
	box, _ := setup(t)
	got := call(t, box, "run_command", object{"argv": string(long)}, nil)
	require.Less(t, len(got.Text), 300)
	require.Contains(t, got.Text, "xxx...: want an array")
}

func TestNullForWhatIsOptionalIsAsIfItWereNotThere(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.finish(ok("1\n"))
	got := call(t, box, "run_code", `{"language": "python", "code": "print(1)", "stdin": null, "timeout": null, "files": null}`, nil)
	require.Equal(t, "1", got.Text)
	require.False(t, got.IsError)
}
