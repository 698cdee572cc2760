package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestJobThatDoesNotFitOneMessageIsRejected(t *testing.T) {
	t.Parallel()
	languages, err := sandbox.NewLanguages([]sandbox.Language{{Name: "any", Image: "any", File: "main", Run: []string{"{file}"}}})
	require.NoError(t, err)
	jobOf := func(argument string) error {
		p := sandbox.Program{Language: "any", Source: []byte("x")}
		for range 10 {
			p.Args = append(p.Args, strings.Repeat(argument, 100_000))
		}
		prepared, err := languages.Prepare(p, sandbox.DefaultLimits(), sandbox.DefaultMaxima())
		require.NoError(t, err)
		_, err = newJob(p, prepared, shapeOf("any", prepared.Limits, false))
		return err
	}
	require.NoError(t, jobOf("a"))
	// JSON writes this one byte as \u0001.
	require.ErrorContains(t, jobOf("\x01"), "want at most 4194304")
}
