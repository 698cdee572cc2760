package workspace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestApplyDeletesAndThenWrites(t *testing.T) {
	t.Parallel()
	files := []sandbox.File{file("a", "1"), file("dir/b", "2"), file("dir/sub/c", "3"), file("directory", "4")}
	for name, test := range map[string]struct {
		write   []sandbox.File
		deleted []string
		want    []sandbox.File
	}{
		"nothing":                         {want: files},
		"a file":                          {deleted: []string{"a"}, want: files[1:]},
		"a folder with all below it":      {deleted: []string{"dir"}, want: []sandbox.File{files[0], files[3]}},
		"a folder in a folder":            {deleted: []string{"dir/sub"}, want: []sandbox.File{files[0], files[1], files[3]}},
		"what is not there":               {deleted: []string{"b", "dir/bb", ""}, want: files},
		"one more, in order":              {write: []sandbox.File{file("b", "5")}, want: []sandbox.File{files[0], file("b", "5"), files[1], files[2], files[3]}},
		"another content":                 {write: []sandbox.File{file("a", "5")}, want: []sandbox.File{file("a", "5"), files[1], files[2], files[3]}},
		"what was deleted is written":     {write: []sandbox.File{file("dir/b", "5")}, deleted: []string{"dir"}, want: []sandbox.File{files[0], file("dir/b", "5"), files[3]}},
		"a file where a folder was":       {write: []sandbox.File{file("dir", "5")}, deleted: []string{"dir"}, want: []sandbox.File{files[0], file("dir", "5"), files[3]}},
		"a conflict, which Check refuses": {write: []sandbox.File{file("a/x", "5")}, want: []sandbox.File{files[0], file("a/x", "5"), files[1], files[2], files[3]}},
	} {
		require.Equal(t, test.want, Apply(files, test.write, test.deleted), name)
		require.Equal(t, "1", string(files[0].Data), "what is given stays")
	}
}

func TestDiffIsWhatApplyNeeds(t *testing.T) {
	t.Parallel()
	executable := file("c", "3")
	executable.Executable = true
	from := []sandbox.File{file("a", "1"), file("b", "2"), file("c", "3"), file("z", "9"), file("d", "4")}
	to := []sandbox.File{file("new", ""), file("a", "1"), file("b", "changed"), executable}
	write, deleted := Diff(from, to)
	require.Equal(t, []sandbox.File{file("b", "changed"), executable, file("new", "")}, write)
	require.Equal(t, []string{"d", "z"}, deleted)
	require.ElementsMatch(t, to, Apply(from, write, deleted))
	write, deleted = Diff(to, to)
	require.Empty(t, write)
	require.Empty(t, deleted)
	require.Empty(t, Apply(from, nil, []string{"a", "b", "c", "d", "z"}))
}
