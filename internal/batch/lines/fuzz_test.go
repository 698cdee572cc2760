package lines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
)

// FuzzLines reads any text as a batch: a line is refused with its number, or is a job that the queue takes.
func FuzzLines(f *testing.F) {
	f.Add(`{"id":"a","language":"python","code":"print(1)","stdin":"1","expected":"1"}` + "\n\n" + `{"id":1,"language":"c","files":{"a.c":"int"},"main":"a.c"}`)
	f.Add(`{"id":"a","language":"python","code":"x","tests":[{"name":"t","stdin":{"base64":"AA=="},"expected":"","args":["-v"],"files":{"d/f":"x"}}],"checker":"tokens"}`)
	f.Add(`{"id":"a","language":"python","code":"x","unit":{"framework":"pytest","code":"def test_x(): pass"},"limits":{"cpu_seconds":1e300,"memory_bytes":-1},"expect":["AC","WA"]}`)
	f.Add("\ufeff{\"id\":\"a\",\"id\":\"b\"}\n[]\nnull\n{")
	s := settings(f)
	s.BodyLimit = 1 << 14
	f.Fuzz(func(t *testing.T, text string) {
		count := 0
		_, err := s.Check(t.Context(), strings.NewReader(text), func(_ int, entry batch.Entry) error {
			count++
			require.NoError(t, entry.Job.Validate())
			require.LessOrEqual(t, entry.Size(), s.BodyLimit)
			require.NotEmpty(t, entry.ID)
			return nil
		})
		if err != nil {
			return
		}
		again := 0
		for _, err := range s.Entries(strings.NewReader(text)) {
			require.NoError(t, err, "what was checked can be submitted")
			again++
		}
		require.Equal(t, count, again)
	})
}
