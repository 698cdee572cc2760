package submissions_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/submissions"
)

// layouts are what folders and archives of the same files become.
var layouts = map[string]struct {
	files   []file
	grouped bool
	want    []string
	// archived differs where an archive of one folder stands for that.
	archived []string
}{
	"files": {
		files: []file{{"bob.cpp", "b"}, {"alice.py", "a"}},
		want:  []string{"alice: alice.py=a", "bob: bob.cpp=b"},
	},
	"folders": {
		files: []file{{"alice/main.py", "m"}, {"alice/lib/x.py", "x"}, {"bob.py", "b"}},
		want:  []string{"alice: lib/x.py=x main.py=m", "bob: bob.py=b"},
	},
	"names that differ by extension only": {
		files: []file{{"sum.c", "c"}, {"sum.py", "p"}, {"sum/main.py", "m"}},
		want:  []string{"sum: main.py=m", "sum.c: sum.c=c", "sum.py: sum.py=p"},
	},
	"one folder": {
		files:    []file{{"hand-in/alice.py", "a"}, {"hand-in/bob/main.c", "b"}},
		want:     []string{"hand-in: alice.py=a bob/main.c=b"},
		archived: []string{"alice: alice.py=a", "bob: main.c=b"},
	},
	"groups": {
		files:   []file{{"red/one.py", "1"}, {"red/two/main.py", "2"}, {"blue/one.py", "3"}, {"stray.py", "s"}},
		grouped: true,
		want: []string{
			"[blue] blue/one: one.py=3", "[red] red/one: one.py=1", "[red] red/two: main.py=2",
			"stray.py: PROBLEM lies in no folder: want a folder for each group",
		},
	},
	"groups in one folder": {
		files:    []file{{"all/red/one.py", "1"}, {"all/blue/one.py", "3"}},
		grouped:  true,
		want:     []string{"[all] all/blue: one.py=3", "[all] all/red: one.py=1"},
		archived: []string{"[blue] blue/one: one.py=3", "[red] red/one: one.py=1"},
	},
	"what systems leave behind": {
		files: []file{{"alice.py", "a"}, {".DS_Store", "x"}, {"__MACOSX/._alice.py", "x"}, {"bob/.git/config", "x"}, {"bob/main.py", "b"}, {"bob/main.py~", "x"}},
		want:  []string{"alice: alice.py=a", "bob: main.py=b"},
	},
	"an empty folder": {
		files: []file{{"alice/", ""}, {"bob.py", "b"}},
		want:  []string{"alice: PROBLEM holds no file", "bob: bob.py=b"},
	},
	"an empty file": {
		files: []file{{"alice.py", ""}, {"bob.py", "b"}},
		want:  []string{"alice: alice.py=", "bob: bob.py=b"},
	},
	"names in other scripts": {
		files: []file{{"Ännä Müller.py", "a"}, {"名前.py", "b"}},
		want:  []string{"Ännä Müller: Ännä Müller.py=a", "名前: 名前.py=b"},
	},
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := submissions.Options{GroupByFolder: layout.grouped}
			require.Equal(t, layout.want, lines(handedIn(t, o, folderOf(t, layout.files...))), "folder")
			archived := layout.archived
			if archived == nil {
				archived = layout.want
			}
			require.Equal(t, archived, lines(handedIn(t, o, writeFile(t, "in.zip", zipOf(t, layout.files...)))), "zip")
			// A tar archive is read in its own order.
			packed := tarOf(t, nil, layout.files...)
			require.ElementsMatch(t, archived, sortedFiles(lines(handedIn(t, o, writeFile(t, "in.tar", packed)))), "tar")
			require.ElementsMatch(t, archived, sortedFiles(lines(handedIn(t, o, writeFile(t, "in.tgz", gzipOf(t, packed))))), "tar.gz")
		})
	}
}

// sortedFiles puts the one line whose files a tar archive has in another order as a folder has them.
func sortedFiles(told []string) []string {
	for i, line := range told {
		if line == "alice: main.py=m lib/x.py=x" {
			told[i] = "alice: lib/x.py=x main.py=m"
		}
	}
	return told
}

func TestSeveralPaths(t *testing.T) {
	t.Parallel()
	one, two := folderOf(t, file{"alice.py", "1"}, file{"bob.py", "2"}), writeFile(t, "late.zip", zipOf(t, file{"alice.py", "3"}, file{"carol.py", "4"}))
	single := writeFile(t, "dave.py", []byte("5"))
	require.Equal(t, []string{
		"in/alice.py: alice.py=1", "bob: bob.py=2", "late.zip/alice.py: alice.py=3", "carol: carol.py=4", "dave: dave.py=5",
	}, lines(handedIn(t, submissions.Options{}, one, two, single)))
	require.Equal(t, []string{"dave.py/dave.py#1: dave.py=5", "dave.py/dave.py#2: dave.py=5"}, lines(handedIn(t, submissions.Options{}, single, single)))
}

func TestFilesOfATarArchiveMayLieApart(t *testing.T) {
	t.Parallel()
	packed := tarOf(t, nil, file{"./", ""}, file{"./a/1.py", "1"}, file{"./b/1.py", "2"}, file{"./a/2.py", "3"}, file{"./b/2.py", "4"})
	require.Equal(t, []string{"a: 1.py=1 2.py=3", "b: 1.py=2 2.py=4"}, lines(handedIn(t, submissions.Options{}, writeFile(t, "x.tar", packed))))
}

func TestExecutableFilesStayExecutable(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, file{"run.sh", "x"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o700))
	require.True(t, handedIn(t, submissions.Options{}, dir)[0].Files[0].Executable)
}

func TestAFileThatGoesAwayIsAProblemOfItsSubmission(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, file{"a/1.py", "1"}, file{"a/2.py", "2"}, file{"b.py", "3"})
	set, err := submissions.Open([]string{dir}, submissions.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	require.NoError(t, os.Remove(filepath.Join(dir, "a/2.py")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new.py"), nil, 0o600))
	var all []submissions.Submission
	for one, err := range set.All() {
		require.NoError(t, err)
		all = append(all, one)
	}
	require.Equal(t, []string{"b: b.py=3", "a: 1.py=1 PROBLEM changed while it was read"}, lines(all))
}
