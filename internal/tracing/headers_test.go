package tracing

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

var errNoRoute = errors.New("no route\nto it")

func headersFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "headers")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

func TestHeadersAreReadLineByLine(t *testing.T) {
	t.Parallel()
	headers, err := readHeaders(headersFile(t, "# of the collector\r\nAuthorization: Bearer a:b\r\n\n  X-Key:c  \n"))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Authorization": "Bearer a:b", "X-Key": "c"}, headers)
}

func TestWhatIsNoHeaderIsRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a token alone":        "hunter2",
		"no name":              ": hunter2",
		"no value":             "hunter2:",
		"a name of two words":  "hunter2 x: y",
		"a character too many": "X-Key: hunter2\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := headersFile(t, "X-Good: 1\n"+line+"\n")
			_, err := Start(t.Context(), config.Tracing{Endpoint: "http://localhost:1", HeadersFile: file}, Service{}, nil)
			require.EqualError(t, err, "tracing.headers_file: line 2 of "+file+": want a header, such as Authorization: Bearer abc")
		})
	}
	_, err := Start(t.Context(), config.Tracing{Endpoint: "http://localhost:1", HeadersFile: "/nowhere"}, Service{}, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
