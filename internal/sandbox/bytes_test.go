package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestBytesInJSON(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		data, want string
	}{
		"text":            {"hello", `"hello"`},
		"nothing":         {"", `""`},
		"line feed":       {"a\nb", `"a\nb"`},
		"not ASCII":       {"Grüße 👋", `"Grüße 👋"`},
		"NUL is text":     {"a\x00b", `"a\u0000b"`},
		"no UTF-8":        {"\xff\xfe", `{"base64":"//4="}`},
		"cut character":   {"a\xc3", `{"base64":"YcM="}`},
		"surrogate":       {"\xed\xa0\x80", `{"base64":"7aCA"}`},
		"the replacement": {"\uFFFD", "\"\uFFFD\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(sandbox.Bytes(test.data))
			require.NoError(t, err)
			require.Equal(t, test.want, string(text))
			var back sandbox.Bytes
			require.NoError(t, json.Unmarshal(text, &back))
			require.Equal(t, test.data, string(back))
		})
	}
}

func TestLongTextTakesTheShorterForm(t *testing.T) {
	t.Parallel()
	const size = 64<<10 + 2 // a multiple of 3, so that base64 is 4/3 of it
	for name, test := range map[string]struct {
		data string
		want int
	}{
		"plain":       {strings.Repeat("a", size), len(`""`) + size},
		"lines":       {strings.Repeat("ab\n", size/3), len(`""`) + size/3*4},
		"NUL":         {strings.Repeat("\x00", size), len(`{"base64":""}`) + size/3*4},
		"short NUL":   {strings.Repeat("\x00", 64<<10), len(`""`) + 64<<10*6},
		"angles":      {strings.Repeat("<", size), len(`{"base64":""}`) + size/3*4},
		"quotes":      {strings.Repeat(`"`, size), len(`{"base64":""}`) + size/3*4},
		"three bytes": {strings.Repeat("€", size/3), len(`""`) + size},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(sandbox.Bytes(test.data))
			require.NoError(t, err)
			require.Len(t, text, test.want)
			var back sandbox.Bytes
			require.NoError(t, json.Unmarshal(text, &back))
			require.Equal(t, test.data, string(back))
		})
	}
}

func TestBytesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`5`, `[1]`, `{"base64":"?"}`, `{"base64":5}`} {
		var b sandbox.Bytes
		require.Error(t, json.Unmarshal([]byte(text), &b), text)
	}
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte("text"))
	f.Add([]byte{0xff, 0, '<', '"', 0xc3})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := json.Marshal(sandbox.Bytes(data))
		if err != nil {
			t.Fatal(err)
		}
		var back sandbox.Bytes
		if err := json.Unmarshal(text, &back); err != nil || string(back) != string(data) {
			t.Fatalf("%q became %q: %v", data, back, err)
		}
	})
}
