package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestHello(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python("print(6*7)"))
	t.Logf("%+v", got)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.Equal(t, "42\n", string(got.Stdout.Data))
}
