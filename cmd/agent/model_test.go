package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheProviderIsThatOfTheFlagsOrElseOfTheKeys(t *testing.T) {
	t.Parallel()
	anthropicKey, openaiKey := map[string]string{"ANTHROPIC_API_KEY": "a"}, map[string]string{"OPENAI_API_KEY": "o"}
	both := map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
	for name, c := range map[string]struct {
		flags           modelFlags
		env             map[string]string
		provider, model string
	}{
		"one key":                      {modelFlags{}, openaiKey, "openai", "gpt-5.5"},
		"the other key":                {modelFlags{}, anthropicKey, "anthropic", "claude-sonnet-5-5"},
		"both keys":                    {modelFlags{}, both, "anthropic", "claude-sonnet-5-5"},
		"both keys and a flag":         {modelFlags{provider: "openai", model: "m"}, both, "openai", "m"},
		"a local server wants no key":  {modelFlags{provider: "openai", model: "m", baseURL: "http://127.0.0.1:1/v1"}, nil, "openai", "m"},
		"a server of one's own":        {modelFlags{model: "m", baseURL: "http://127.0.0.1:1"}, nil, "openai", "m"},
		"it never gets another's key":  {modelFlags{model: "m", baseURL: "http://127.0.0.1:1"}, anthropicKey, "openai", "m"},
		"a proxy before a provider":    {modelFlags{provider: "anthropic", model: "m", baseURL: "http://127.0.0.1:1"}, anthropicKey, "anthropic", "m"},
		"a script, whatever keys":      {modelFlags{script: "../../examples/agent/repair.yaml"}, both, "script", "script"},
		"a script by its name as well": {modelFlags{provider: "script", script: "../../examples/agent/repair.yaml"}, nil, "script", "script"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.flags.choose(func(key string) string { return c.env[key] })
			require.NoError(t, err)
			require.Equal(t, c.provider, got.provider)
			require.Equal(t, c.model, got.name)
			require.NotNil(t, got.Model)
		})
	}
}
