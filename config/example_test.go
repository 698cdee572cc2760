package config

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/viper"
	"github.com/stretchr/testify/require"
)

func TestTheExampleHoldsEveryKeyWithItsDefault(t *testing.T) {
	t.Parallel()
	v := viper.New()
	v.SetConfigFile("sandloop.example.yaml")
	require.NoError(t, v.ReadInConfig())
	require.ElementsMatch(t, Keys(), v.AllKeys())
	var c Config
	require.NoError(t, v.UnmarshalExact(&c, strict))
	require.Equal(t, Default(), c)
}

func TestTheExampleExplainsEveryKey(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("sandloop.example.yaml")
	require.NoError(t, err)
	explained := false // by a comment above the key or its neighbours
	for number, line := range strings.Split(string(content), "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "#"):
			explained = true
		case trimmed == "" || strings.HasSuffix(trimmed, ":"):
			explained = false
		default:
			require.True(t, explained, "line %d: %s", number+1, line)
		}
	}
}
