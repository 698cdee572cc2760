package cli_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
)

func TestWhatATerminalWouldObeyIsMadeVisible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"text, line feed, tab and carriage return stay": {"añ€😀\tb\r\nc", "añ€😀\tb\r\nc"},
		"an escape sequence":                            {"\x1b]0;title\x07", "^[]0;title^G"},
		"backspace and delete":                          {"a\x08\x7f", "a^H^?"},
		"a C1 control":                                  {"\u009b31m", `\u009b31m`},
		"text turned right to left":                     {"a\u202eb", `a\u202eb`},
		"a byte that is not text":                       {"\xff\xfeok", `\xff\xfeok`},
		"the replacement character itself":              {"\ufffd", "\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, cli.Visible(c.in))
		})
	}
}

func TestACharacterThatComesInPiecesIsOne(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := cli.NewDisarmer(&out)
	for _, b := range []byte("€\x1b😀\xe2\x82") {
		n, err := d.Write([]byte{b})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.Equal(t, "€^[😀", out.String())
	require.NoError(t, d.Flush())
	require.Equal(t, `€^[😀\xe2\x82`, out.String())
}

func TestANoteStaysOnOneLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, `a\nenqueue: b\r^[`, cli.Printable("a\nenqueue: b\r\x1b"))
}
