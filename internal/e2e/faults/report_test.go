//go:build faults

package faults_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// publish prints a table of a run and, if SANDLOOP_FAULTS_REPORT names a file, appends it there.
func publish(t *testing.T, text string) {
	t.Helper()
	fmt.Print("\n", text, "\n")
	path := os.Getenv("SANDLOOP_FAULTS_REPORT")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(text + "\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
}
