package lines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings are those of an installation without a configuration.
func settings(t testing.TB) *Settings {
	t.Helper()
	languages, err := config.Default().Languages()
	require.NoError(t, err)
	return &Settings{
		Languages: languages, Defaults: sandbox.DefaultLimits(), Maxima: sandbox.DefaultMaxima(), BodyLimit: 1 << 20,
	}
}

// check checks a batch of lines and returns what is said of it.
func check(t *testing.T, s *Settings, batch ...string) (int, string) {
	t.Helper()
	count, err := s.Check(t.Context(), strings.NewReader(strings.Join(batch, "\n")), nil)
	if err != nil {
		return count, err.Error()
	}
	return count, ""
}
