package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPipeGetsTheBytesAsTheyAre(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	require.Same(t, writer, forProgram(writer))
	require.NoError(t, writer.Close())
}
