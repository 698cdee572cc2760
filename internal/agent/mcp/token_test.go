package mcp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent/mcp"
)

func TestTokensThatCannotBeOne(t *testing.T) {
	t.Parallel()
	for text, problem := range map[string]string{
		"":                         "at least 16 characters, this one has 0",
		"  \n":                     "at least 16 characters, this one has 0",
		"fifteen-letters":          "at least 16 characters, this one has 15",
		"two words of enough text": "one word",
		"schlüssel-mit-umlaut":     "visible ASCII",
		"with-a-tab\tinside-of-it": "one word",
	} {
		_, err := mcp.ParseToken(text)
		require.ErrorContains(t, err, problem, "%q", text)
	}
}

func TestATokenDoesNotShow(t *testing.T) {
	t.Parallel()
	token, err := mcp.ParseToken(" sixteen-letters!\r\n")
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", token, token, *token, token), "sixteen")
}
