package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func TestOldResultsAreFoundByID(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"index":0,"id":"a","key":"1","verdict":"IE"}`, ``, `{"index":1,"id":"b","key":"2","verdict":"WA"}`,
		`{"index":2,"id":"c","key":"3","verdict":"TLE"}`, `{"index":0,"id":"a","key":"1","verdict":"AC"}`, `{"index":3,"id":"d","ke`,
	}
	for name, end := range map[string]string{"line feeds": "\n", "as an editor on Windows writes them": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{dir: t.TempDir()}
			old, err := openOldResults(b.file(t, "old.jsonl", strings.Join(lines, end)))
			require.NoError(t, err)
			defer func() { require.NoError(t, old.file.Close()) }()
			for id, verdict := range map[string]grade.Verdict{"a": grade.AC, "b": grade.WA, "c": grade.TLE} {
				item, found, err := old.find(id)
				require.NoError(t, err)
				require.True(t, found)
				require.Equal(t, id, item.ID)
				require.Equal(t, verdict, item.Verdict)
			}
			_, found, err := old.find("d")
			require.NoError(t, err)
			require.False(t, found)
			require.Zero(t, old.unseen())
		})
	}
}
