package provider

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
)

func TestArgumentsAreAnObject(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		``: `{}`, " \n": `{}`, `{}`: `{}`, ` {"a": 1.0} `: ` {"a": 1.0} `,
		`{"a":`: `{"malformed_arguments":"{\"a\":"}`, `[1]`: `{"malformed_arguments":"[1]"}`, `null`: `{"malformed_arguments":"null"}`,
		`"{}"`: `{"malformed_arguments":"\"{}\""}`, `{} {}`: `{"malformed_arguments":"{} {}"}`,
	} {
		require.Equal(t, want, string(Arguments(agent.ToolCall{Arguments: written})), written)
	}
}

func TestNamesAreOfLettersThatProvidersTake(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"run_code": "run_code", "A-z09": "A-z09", "functions.run:0": "functions_run_0", "ü b": "__b", "": "unknown"} {
		require.Equal(t, want, Name(name))
	}
}

func TestImagesThatAModelIsShown(t *testing.T) {
	t.Parallel()
	fits := agent.Image{Path: "a.png", MIME: "image/png", Data: make([]byte, 3_750_000)}
	images := []agent.Image{
		fits,
		{Path: "big.png", MIME: "image/png", Data: make([]byte, 3_750_001)},
		{Path: "none.gif", MIME: "image/gif"},
		{Path: "v.svg", MIME: "image/svg+xml", Data: []byte("x")},
	}
	const others = "[big.png (image/png, 3750001 bytes) cannot be shown to you]\n" +
		"[none.gif (image/gif, 0 bytes) cannot be shown to you]\n[v.svg (image/svg+xml, 1 bytes) cannot be shown to you]"
	shown, hidden := Images(images, true)
	require.Equal(t, []agent.Image{fits}, shown)
	require.Equal(t, others, hidden)
	shown, hidden = Images(images, false)
	require.Empty(t, shown)
	require.Equal(t, "[a.png (image/png, 3750000 bytes) cannot be shown to you]\n"+others, hidden)
}
