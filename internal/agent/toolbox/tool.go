package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sandloop/sandloop/internal/agent"
)

// tool is one thing that a model can have done.
type tool struct {
	spec agent.ToolSpec
	call func(ctx context.Context, arguments string, progress func(agent.Progress)) agent.ToolResult
}

// newTool makes a tool whose arguments are a T. restrict narrows the schema that the type gives. It panics on a type
// that has no schema, which only a change of this package can bring about.
func newTool[T any](
	name, description string, restrict func(*jsonschema.Schema),
	run func(ctx context.Context, arguments T, progress func(agent.Progress)) agent.ToolResult,
) tool {
	schema := must(jsonschema.For[T](nil))
	neverNull(schema)
	if restrict != nil {
		restrict(schema)
	}
	resolved := must(schema.Resolve(nil))
	return tool{
		spec: agent.ToolSpec{Name: name, Description: description, Schema: must(json.Marshal(schema))},
		call: func(ctx context.Context, raw string, progress func(agent.Progress)) agent.ToolResult {
			var arguments T
			if err := decode(raw, resolved, &arguments); err != nil {
				return problemf("%s was not called, since its arguments are wrong: %s. Call it again with these repaired", name, strings.ReplaceAll(err.Error(), "\n", "; "))
			}
			return run(ctx, arguments, progress)
		},
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// neverNull takes null from the types of arrays, which Go's nil slices bring in: an argument that is not given is
// simply not there.
func neverNull(schema *jsonschema.Schema) {
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	for _, property := range schema.Properties {
		neverNull(property)
	}
	if schema.Items != nil {
		neverNull(schema.Items)
	}
}

// decode reads arguments that fit the schema. Of those that do not the error tells field, value and what is allowed.
func decode(raw string, schema *jsonschema.Resolved, arguments any) error {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	var given any
	if err := json.Unmarshal([]byte(raw), &given); err != nil {
		return fmt.Errorf("they are no JSON (%w)", err)
	}
	object, isObject := given.(map[string]any)
	if !isObject {
		return fmt.Errorf("they are %s: want an object", shown(given))
	}
	dropNulls(object, schema.Schema())
	if err := schema.Validate(object); err != nil {
		return misfit(object, schema.Schema(), err)
	}
	clean, err := json.Marshal(object) // 2.0 becomes 2, which fits an int
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(clean))
	decoder.DisallowUnknownFields()
	return decoder.Decode(arguments)
}

// dropNulls removes optional arguments that are null, with which many models say that they give none.
func dropNulls(object map[string]any, schema *jsonschema.Schema) {
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	for name, value := range object {
		if value == nil && !required[name] {
			delete(object, name)
		}
	}
}
