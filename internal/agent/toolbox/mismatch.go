package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// misfit says in words for a model why a value does not fit a schema, which the validator has found: err is used only
// if the walk over both finds nothing.
func misfit(value any, schema *jsonschema.Schema, err error) error {
	if errs := mismatches("", value, schema); len(errs) > 0 {
		return errors.Join(errs...)
	}
	return err
}

// mismatches lists what is wrong below a path, in the order of names.
func mismatches(path string, value any, schema *jsonschema.Schema) (errs []error) {
	switch value := value.(type) {
	case map[string]any:
		if schema.Type == "object" {
			return objectMismatches(path, value, schema)
		}
	case []any:
		if schema.Type == "array" && (schema.MinItems == nil || len(value) >= *schema.MinItems) {
			for i, item := range value {
				errs = append(errs, mismatches(fmt.Sprintf("%s[%d]", path, i), item, schema.Items)...)
			}
			return errs
		}
	}
	resolved, err := schema.CloneSchemas().Resolve(nil)
	if err != nil || resolved.Validate(value) == nil {
		return nil
	}
	return []error{fmt.Errorf("%s is %s: want %s", path, shown(value), wanted(schema))}
}

func objectMismatches(path string, object map[string]any, schema *jsonschema.Schema) (errs []error) {
	if path != "" {
		path += "."
	}
	for _, name := range schema.Required {
		if _, given := object[name]; !given {
			errs = append(errs, fmt.Errorf("%s%s is missing: want %s", path, name, wanted(schema.Properties[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := schema.Properties[name]
		if !known {
			errs = append(errs, fmt.Errorf("%s%s is unknown: want only %s", path, name, names(schema)))
			continue
		}
		errs = append(errs, mismatches(path+name, object[name], property)...)
	}
	return errs
}

// names lists the properties of an object as its type has them.
func names(schema *jsonschema.Schema) string {
	if len(schema.Properties) == 0 {
		return "an empty object"
	}
	return strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
}

// shownBytes bounds a value in a message.
const shownBytes = 80

// shown is a value with its type.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "no JSON"
	}
	if len(text) > shownBytes {
		text = append([]byte(strings.ToValidUTF8(string(text[:shownBytes]), "")), "..."...)
	}
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return string(text)
	case float64:
		return "the number " + string(text)
	case string:
		return "the string " + string(text)
	case []any:
		return "the array " + string(text)
	default:
		return "the object " + string(text)
	}
}

// wanted describes what a schema allows.
func wanted(schema *jsonschema.Schema) string {
	switch {
	case len(schema.Enum) > 0:
		words := make([]string, len(schema.Enum))
		for i, word := range schema.Enum {
			words[i] = fmt.Sprintf("%q", word)
		}
		return "one of " + strings.Join(words, ", ")
	case schema.Type == "array" && schema.Items.Type == "object":
		return "an array of objects with " + names(schema.Items)
	case schema.Type == "array":
		return "an array of at least one string"
	case schema.Type == "object":
		return "an object with " + names(schema)
	case schema.Type == "boolean":
		return "true or false"
	case schema.Type == "string" && schema.MinLength != nil:
		return "a string that is not empty"
	case schema.Type == "string":
		return "a string"
	}
	text := "a number"
	if schema.Type == "integer" {
		text = "a whole number"
	}
	if schema.Minimum != nil {
		text += " of at least " + number(*schema.Minimum)
	}
	if schema.Maximum != nil {
		text += " and at most " + number(*schema.Maximum)
	}
	return text
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
