package problem_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
)

// folder writes a package to a folder of its own.
func folder(t *testing.T, f files) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sum")
	write(t, dir, f)
	return dir
}

func loadError(t *testing.T, dir string) string {
	t.Helper()
	_, err := problem.Load(dir)
	require.Error(t, err)
	return err.Error()
}

func TestLoadOpensAndClosesAFolder(t *testing.T) {
	t.Parallel()
	p, err := problem.Load(folder(t, legacyFiles))
	require.NoError(t, err)
	require.Equal(t, "sum", p.ShortName)
	data, err := p.ReadFile("data/secret/1.ans", 100)
	require.NoError(t, err)
	require.Equal(t, "3\n", string(data))
	require.NoError(t, p.Close())
	_, err = p.Open("data/secret/1.ans")
	require.Error(t, err)
}

func TestAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	require.EqualError(t, problemError(problem.Load(dir)), "open problem package "+dir+": no such file or directory")
}

func problemError(_ *problem.Problem, err error) error { return err }

func TestLinksStayInThePackage(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	require.NoError(t, os.WriteFile(outside, []byte("token"), 0o600))
	dir := folder(t, legacyFiles)
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "data/secret/2.in")))
	require.NoError(t, os.Symlink("../../../../"+filepath.Base(filepath.Dir(outside))+"/secret.txt", filepath.Join(dir, "data/secret/3.in")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "data/secret/loop")))
	require.NoError(t, os.Symlink("self", filepath.Join(dir, "data/secret/self")))
	message := loadError(t, dir)
	require.Contains(t, message, "data/secret/2.in: the link does not lead to a file in the package")
	require.Contains(t, message, "data/secret/3.in: the link does not lead to a file in the package")
	require.Contains(t, message, "data/secret/loop: is a link to a folder: want links to files only")
	require.Contains(t, message, "data/secret/self: the link does not lead to a file in the package")
}

func TestLinksToOtherFilesOfThePackageAreFollowed(t *testing.T) {
	t.Parallel()
	dir := folder(t, legacyFiles)
	for _, extension := range []string{".in", ".ans"} {
		require.NoError(t, os.Symlink("1"+extension, filepath.Join(dir, "data/secret/2"+extension)))
	}
	p, err := problem.Load(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	test, found := p.Test("secret/2")
	require.True(t, found)
	require.Equal(t, int64(4), test.InputSize)
	data, err := p.ReadFile(test.Input, 100)
	require.NoError(t, err)
	require.Equal(t, "1 2\n", string(data))
}

func TestALinkThatIsTurnedLaterDoesNotLeadOut(t *testing.T) {
	t.Parallel()
	dir := folder(t, legacyFiles)
	p, err := problem.Load(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	input := filepath.Join(dir, "data/secret/1.in")
	require.NoError(t, os.Remove(input))
	require.NoError(t, os.Symlink("/etc/hostname", input))
	_, err = p.Open("data/secret/1.in")
	require.ErrorContains(t, err, "path escapes from parent")

	// Neither does a FIFO that takes a file's place hold anybody up.
	require.NoError(t, os.Remove(input))
	require.NoError(t, syscall.Mkfifo(input, 0o600))
	_, err = p.Open("data/secret/1.in")
	require.EqualError(t, err, "open data/secret/1.in: is a FIFO: want a file")
}

func TestFIFOsAreRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t, legacyFiles)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "data/secret/2.in"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, ".timelimit"), 0o600))
	message := loadError(t, dir)
	require.Contains(t, message, "data/secret/2.in: is a FIFO: want files and folders only")
	require.Contains(t, message, ".timelimit: is a FIFO: want a file")
}

func TestAPackageIsBounded(t *testing.T) {
	t.Parallel()
	deep := "data/secret/" + strings.Repeat("d/", 20) + "1"
	many := files{}
	for i := range 1001 {
		many["submissions/accepted/many/f"+strings.Repeat("x", i%200)+string(rune('a'+i/200))+".py"] = "pass"
	}
	for name, test := range map[string]struct {
		change files
		want   string
	}{
		"a huge problem.yaml":   {files{"problem.yaml": "name: " + strings.Repeat("a", 1<<20)}, "problem.yaml: is larger than 1048576 bytes"},
		"folders without end":   {files{deep + ".in": "x", deep + ".ans": "x"}, "data/secret/d/d/d/d/d/d/d/d/d/d/d: the folder lies more than 12 folders deep"},
		"a huge submission":     {files{"submissions/accepted/big.py": strings.Repeat("#", 16<<20+1)}, "submissions/accepted/big.py: has 16777217 bytes: want at most 16777216"},
		"submissions of shreds": {many, "submissions/accepted/many: has 1001 files: want at most 1000"},
		"a huge time limit":     {files{".timelimit": strings.Repeat("1", 2<<20)}, ".timelimit: is larger than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, issues(t, legacyFiles.with(test.change)), test.want)
		})
	}
}

func TestYAMLThatGrowsIsHarmless(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x, x, x, x, x, x]\n"
	for _, pair := range []string{"ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"} {
		bomb += string(pair[1]) + ": &" + string(pair[1]) + " [" + strings.Repeat("*"+string(pair[0])+", ", 8) + "]\n"
	}
	require.NotEmpty(t, issues(t, legacyFiles.with(files{"problem.yaml": bomb + "name: *i\n"})))
	require.NotEmpty(t, issues(t, legacyFiles.with(files{"problem.yaml": "name: &n [*n]\n"})))
	require.NotEmpty(t, issues(t, legacyFiles.with(files{"problem.yaml": "limits: &l {time_multipliers: *l, memory: *l}\n"})))
	require.NotEmpty(t, issues(t, currentFiles.with(files{"problem.yaml": "problem_format_version: 2025-09\nlimits: &l {time_multipliers: *l}\n"})))
	require.NotEmpty(t, issues(t, legacyFiles.with(files{"problem.yaml": "name: " + strings.Repeat("[", 100_000)})))
}

func TestIssuesAreBounded(t *testing.T) {
	t.Parallel()
	many := legacyFiles
	inputs := files{}
	for i := range 300 {
		inputs["data/secret/x"+strings.Repeat("y", i%100)+string(rune('a'+i/100))+".in"] = "1"
	}
	got := issues(t, many.with(inputs))
	require.Len(t, got, 201)
	require.Equal(t, "100 more issues are not listed", got[200])
}

func TestNamesCannotBreakMessages(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"data/secret/a\nb\x1b[31m.in": "x", "problem.yaml": "\"%s\\n%d\": 1\n"}))
	for _, text := range warnings(p) {
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
		require.NotContains(t, text, "MISSING")
	}
	require.Len(t, p.Warnings, 2)
}

func TestALinkInAnArchiveIsRefused(t *testing.T) {
	t.Parallel()
	tree := legacyFiles.fs()
	tree["data/secret/2.in"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: os.ModeSymlink | 0o777}
	_, err := problem.LoadFS(tree, "sum")
	require.ErrorContains(t, err, "data/secret/2.in: the link does not lead to a file in the package")
}
