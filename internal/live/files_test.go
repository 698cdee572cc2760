package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// code is what the tests of files do in each language.
type code struct {
	write, append, unlink, chmod, list, odd, module, useModule, many string
}

var codes = map[string]code{
	"python": {
		write:     "open(%q, 'w').write(%q);",
		append:    "open(%q, 'r+').write(%q);",
		unlink:    "import os; os.remove(%q)",
		chmod:     "import os; os.chmod(%q, 0o%o)",
		list:      "import os; print(sorted(os.listdir('.')))",
		odd:       "import os, socket; os.symlink('/etc/passwd', 'link'); os.mkfifo('fifo'); s = socket.socket(socket.AF_UNIX); s.bind('socket'); open(b'bad\\xff', 'w'); open('closed', 'w').write('x'); os.chmod('closed', 0)",
		module:    "def answer(): return 42",
		useModule: "import tool; print(tool.answer())",
		many:      "for i in range(30): open(f'many{i}', 'w').close()",
	},
	"node": {
		write:     "require('fs').writeFileSync(%q, %q);",
		append:    "require('fs').writeFileSync(%q, %q, {flag: 'r+'});",
		unlink:    "require('fs').unlinkSync(%q)",
		chmod:     "require('fs').chmodSync(%q, 0o%o)",
		list:      "console.log('[' + require('fs').readdirSync('.').sort().map((name) => `'${name}'`).join(', ') + ']')",
		odd:       "{ const fs = require('fs'); fs.symlinkSync('/etc/passwd', 'link'); require('child_process').execSync('mkfifo fifo'); require('net').createServer().listen('socket').unref(); fs.writeFileSync(Buffer.from('bad\\xff', 'latin1'), ''); fs.writeFileSync('closed', 'x'); fs.chmodSync('closed', 0) }",
		module:    "exports.answer = () => 42",
		useModule: "console.log(require('./tool').answer())",
		many:      "for (let i = 0; i < 30; i++) require('fs').writeFileSync(`many${i}`, '')",
	},
}

// each runs a test in every language.
func each(t *testing.T, test func(t *testing.T, language string)) {
	t.Helper()
	for _, language := range []string{"python", "node"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			test(t, language)
		})
	}
}

func text(path, data string) sandbox.File { return sandbox.File{Path: path, Data: []byte(data)} }

func given(files ...sandbox.File) func(*live.Options) {
	return func(o *live.Options) { o.Files = files }
}

func TestChangesToFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		run := codes[language]
		s := start(t, language, given(text("kept.txt", "kept"), text("d/deep.txt", "deep"), text(".sandloop/evil", "not put there")))
		outcome := s.do(run.list)
		require.Equal(t, "['d', 'kept.txt']\n", string(outcome.Result.Stdout.Data))
		require.Empty(t, outcome.Changes)

		outcome = s.do(fmt.Sprintf(run.write, "d/new.txt", "new"))
		require.Equal(t, live.Changes{Written: []sandbox.File{text("d/new.txt", "new")}}, outcome.Changes)
		require.Empty(t, s.do("1").Changes, "they are told once")
		outcome = s.do(fmt.Sprintf(run.append, "d/new.txt", "NEW"))
		require.Equal(t, live.Changes{Written: []sandbox.File{text("d/new.txt", "NEW")}}, outcome.Changes, "of the same size")
		outcome = s.do(fmt.Sprintf(run.unlink, "kept.txt"), fmt.Sprintf(run.chmod, "d/deep.txt", 0o755))
		require.Equal(t, []string{"kept.txt"}, outcome.Changes.Deleted)
		require.Equal(t, []sandbox.File{{Path: "d/deep.txt", Data: []byte("deep"), Executable: true}}, outcome.Changes.Written)
		outcome = s.do(fmt.Sprintf(run.unlink, "d/new.txt"), fmt.Sprintf(run.write, "d/new.txt", "NEW"))
		require.Equal(t, []sandbox.File{text("d/new.txt", "NEW")}, outcome.Changes.Written, "another file of the same content")
	})
}

func TestSizeAndTimeCanBeTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		for i := range 40 { // cells that follow each other faster than the clock of the file system ticks
			data := fmt.Sprint(10 + i)
			outcome := s.do(fmt.Sprintf(codes[language].write, "x", data))
			require.Equal(t, []sandbox.File{text("x", data)}, outcome.Changes.Written, "cell %d", i)
		}
		for i := range 40 { // and a cell that overwrites at once what came with it
			cell := s.cell(fmt.Sprintf(codes[language].append, "y", fmt.Sprint(10+i)))
			cell.Write = []sandbox.File{text("y", "00")}
			require.Equal(t, []sandbox.File{text("y", fmt.Sprint(10+i))}, s.run(cell).Changes.Written, "cell %d", i)
		}
	})
}

func TestFilesOfACellAreNoChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		run := codes[language]
		s := start(t, language, given(text("old.txt", "old"), text("dir/a", "a")))
		big := strings.Repeat("0123456789abcdef", 40_000)
		cell := s.cell(run.useModule, run.list)
		extension := map[string]string{"python": ".py", "node": ".js"}[language]
		cell.Write = []sandbox.File{text("tool"+extension, run.module), text("new/deep/big", big), text("empty", ""), text("dir", "a file now")}
		cell.Delete = []string{"old.txt", "dir", "never/was"}
		outcome := s.run(cell)
		require.Equal(t, "42\n['dir', 'empty', 'new', 'tool"+extension+"']\n", string(outcome.Result.Stdout.Data), string(outcome.Result.Stderr.Data))
		require.Empty(t, outcome.Changes)
		outcome = s.do(fmt.Sprintf(run.chmod, "new/deep/big", 0o755))
		require.Len(t, outcome.Changes.Written, 1)
		require.Equal(t, big, string(outcome.Changes.Written[0].Data))
		cell = s.cell(run.list)
		cell.Delete, cell.Write = []string{"."}, []sandbox.File{text("only", "x")}
		outcome = s.run(cell)
		require.Equal(t, "['only']\n", string(outcome.Result.Stdout.Data))
		require.Empty(t, outcome.Changes)
	})
}

func TestFilesThatCannotBeWrittenAreTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language, given(text("file", "x")))
		cell := s.cell("1")
		cell.Write = []sandbox.File{text("file/below", "x")}
		require.Contains(t, string(s.run(cell).Result.Stderr.Data), "file/below could not be written")
		require.Empty(t, s.do("1").Result.Stderr.Data)
	})
}

func TestOddFilesAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		outcome := s.do(codes[language].odd)
		require.Empty(t, outcome.Changes.Written)
		require.ElementsMatch(t, []string{"link", "fifo", "socket", "bad\uFFFD", "closed"}, paths(outcome.Changes.Refused))
		for _, refused := range outcome.Changes.Refused {
			require.NotEmpty(t, refused.Reason)
			require.False(t, refused.Limit)
		}
		require.Empty(t, s.do("1").Changes, "they are told once")
	})
}

func paths(refused []sandbox.RefusedFile) (names []string) {
	for _, file := range refused {
		names = append(names, file.Path)
	}
	return names
}

func TestAFolderThatCannotBeReadKeepsItsFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		run := codes[language]
		s := start(t, language, given(text("d/x", "x"), text("e", "e")))
		outcome := s.do(fmt.Sprintf(run.chmod, "d", 0))
		require.Equal(t, live.Changes{Refused: []sandbox.RefusedFile{{Path: "d", Reason: "cannot be read"}}}, outcome.Changes)
		outcome = s.do(fmt.Sprintf(run.unlink, "e"))
		require.Equal(t, []string{"e"}, outcome.Changes.Deleted)
		outcome = s.do(fmt.Sprintf(run.chmod, "d", 0o755), fmt.Sprintf(run.append, "d/x", "y"))
		require.Equal(t, live.Changes{Written: []sandbox.File{text("d/x", "y")}}, outcome.Changes)
	})
}

func TestOfAWalkThatIsCutNothingIsTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language, given(text("a", "a")), func(o *live.Options) { o.MaxFiles = 1 })
		outcome := s.do(map[string]string{
			"python": "import os; os.mkdir('zz')\nfor i in range(10_005): os.mkdir('zz/%d' % i)", // 10,004 are looked at
			"node":   "require('fs').mkdirSync('zz'); for (let i = 0; i < 10_005; i++) require('fs').mkdirSync('zz/' + i)",
		}[language])
		require.Equal(t, live.Changes{Refused: []sandbox.RefusedFile{
			{Path: ".", Reason: "more files and folders are in the workspace than are looked at", Limit: true},
		}}, outcome.Changes)
	})
}

// The times of a file do not change with every write through memory.
func TestWhatIsWrittenThroughMemoryIsAChange(t *testing.T) {
	t.Parallel()
	s := start(t, "python", given(text("a", "a")))
	s.do("import mmap, time", "f = open('m', 'w+b'); _ = f.write(b'0' * 4096); f.flush()", "m = mmap.mmap(f.fileno(), 0); m[0] = 48")
	require.Empty(t, s.do("time.sleep(.2)").Changes) // the clock of the file system has ticked
	for _, c := range []string{"1", "2"} {
		outcome := s.do("m[0] = ord('" + c + "')")
		require.Equal(t, []sandbox.File{text("m", c+strings.Repeat("0", 4095))}, outcome.Changes.Written)
		require.Empty(t, s.do("time.sleep(.2)").Changes)
	}
	outcome := s.do("m[0] = ord('3'); m.close(); f.close()")
	require.Equal(t, []sandbox.File{text("m", "3"+strings.Repeat("0", 4095))}, outcome.Changes.Written)
}

func TestChangesHaveAQuota(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		run := codes[language]
		s := start(t, language, func(o *live.Options) { o.Quota, o.MaxFiles = 1000, 20 })
		outcome := s.do(fmt.Sprintf(run.write, "fits", strings.Repeat("x", 1000)))
		require.Len(t, outcome.Changes.Written, 1)
		outcome = s.do(fmt.Sprintf(run.write, "large", strings.Repeat("x", 1001)), fmt.Sprintf(run.write, "small", "x"))
		require.Equal(t, live.Changes{Refused: []sandbox.RefusedFile{
			{Path: ".", Reason: "changed files have 1002 bytes: at most 1000 are kept", Limit: true},
		}}, outcome.Changes)
		outcome = s.do(run.many)
		require.Equal(t, live.Changes{Refused: []sandbox.RefusedFile{
			{Path: ".", Reason: "more than 20 files are in the workspace", Limit: true},
		}}, outcome.Changes)
	})
}
