package toolbox

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// FuzzArguments takes any text as what a model gives a tool: it is refused in words that can be shown, or is arguments.
func FuzzArguments(f *testing.F) {
	f.Add(`{"language":"python","code":"print(1)","files":[{"path":"a","content":"AA==","encoding":"base64"}],"timeout":1e308}`)
	f.Add(`{"argv":["ls",null],"stdin":null}`)
	f.Add(`{"path":"/etc/passwd","offset":-1,"limit":1.5}`)
	f.Add(`{"id":"../x","timeout":"5"}`)
	f.Add(`[{}]`)
	f.Add(`{"code":"\ud800","language":1,"x\u0000":{}}`)
	schema := func(value *jsonschema.Schema, err error) *jsonschema.Resolved {
		require.NoError(f, err)
		neverNull(value)
		resolved, err := value.Resolve(nil)
		require.NoError(f, err)
		return resolved
	}
	tools := map[*jsonschema.Resolved]func() any{
		schema(jsonschema.For[runLiveArguments](nil)):    func() any { return &runLiveArguments{} },
		schema(jsonschema.For[runCommandArguments](nil)): func() any { return &runCommandArguments{} },
		schema(jsonschema.For[readFileArguments](nil)):   func() any { return &readFileArguments{} },
		schema(jsonschema.For[waitJobArguments](nil)):    func() any { return &waitJobArguments{} },
		schema(jsonschema.For[noArguments](nil)):         func() any { return &noArguments{} },
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for resolved, arguments := range tools {
			given := arguments()
			if err := decode(raw, resolved, given); err != nil {
				require.NotEmpty(t, err.Error())
				require.True(t, utf8.ValidString(err.Error()), "%q", err)
				require.Less(t, len(err.Error()), 2000+len(raw))
				continue
			}
			if live, ok := given.(*runLiveArguments); ok {
				_, _ = live.program() // decodes the files, which may be wrong
			}
			_, err := json.Marshal(given)
			require.NoError(t, err)
		}
	})
}
