package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPythonVariablesPersist(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	require.Empty(t, s.value("x = 40"))
	require.Equal(t, "42", s.value("x += 1", "x + 1"))
	outcome := s.do("print('hello')", "import sys", "print('oops', file=sys.stderr)")
	require.Equal(t, "hello\n", string(outcome.Result.Stdout.Data))
	require.Equal(t, "oops\n", string(outcome.Result.Stderr.Data))
	t.Logf("%+v", outcome)
}
