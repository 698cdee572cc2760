package toolbox

import (
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// minTimeout is the shortest time that a model may give a program, in seconds: below it no interpreter starts.
const minTimeout = 0.1

// timed bounds the argument timeout.
func timed(most time.Duration) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) {
		timeout := schema.Properties["timeout"]
		timeout.Minimum, timeout.Maximum = jsonschema.Ptr(minTimeout), jsonschema.Ptr(most.Seconds())
	}
}

// all applies restrictions one after the other.
func all(restrictions ...func(*jsonschema.Schema)) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) {
		for _, restrict := range restrictions {
			restrict(schema)
		}
	}
}

// notEmpty wants at least a character in each of some strings, and an item in arrays.
func notEmpty(names ...string) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) {
		for _, name := range names {
			if property := schema.Properties[name]; property.Type == "array" {
				property.MinItems = jsonschema.Ptr(1)
			} else {
				property.MinLength = jsonschema.Ptr(1)
			}
		}
	}
}

// encodings narrows the argument encoding of a file.
func encodings(file *jsonschema.Schema) {
	file.Properties["encoding"].Enum = []any{encodingText, encodingBase64}
	notEmpty("path")(file)
}

// limits are those of a job that may run for a number of seconds, or for otherwise if that is 0.
func (t *Toolbox) limits(seconds float64, otherwise time.Duration) sandbox.Overrides {
	limits := t.options.Limits
	wall := sandbox.Seconds(otherwise)
	if seconds > 0 {
		wall = sandbox.Seconds(seconds * float64(time.Second))
	}
	limits.WallTime = &wall
	return limits
}

// codeArguments narrows the arguments of what runs code.
func (t *Toolbox) codeArguments(schema *jsonschema.Schema) {
	timed(t.options.MaxTimeout)(schema)
	notEmpty("language", "code")(schema)
	encodings(schema.Properties["files"].Items)
}
