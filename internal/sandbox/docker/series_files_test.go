package docker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// look shows what a test finds in its workspace, and leaves a mess there.
const look = `find . ! -name main.sh | sort | while read -r f; do stat -c '%A %u %n' "$f"; done
cat in/data 2>/dev/null; [ -x tool ] && ./tool
touch folder/mine 2>/dev/null && rm -rf -- * && echo mess >in && mkfifo folder`

func TestFilesAreThereForTheirTestAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash(look)
	p.Files = []sandbox.File{{Path: "in/kept", Data: []byte("kept")}}
	files := []sandbox.File{
		{Path: "in/data", Data: []byte("\x00\xff\r\n")},
		{Path: "tool", Data: []byte("#!/bin/sh\necho ran\n"), Executable: true},
		{Path: "folder/"},
		{Path: "a/b/c/"},
		{Path: "empty"},
	}
	got, whole := b.runTests(t, p, sandbox.Test{}, sandbox.Test{Files: files}, sandbox.Test{}, sandbox.Test{Files: files[2:3]}, sandbox.Test{})
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	const bare = "drwxrwxrwt 0 .\ndrwxr-xr-x 65534 ./in\n-rw-r--r-- 65534 ./in/kept\n"
	for i, want := range []string{
		bare,
		"drwxrwxrwt 0 .\ndrwxr-xr-x 65534 ./a\ndrwxr-xr-x 65534 ./a/b\ndrwxr-xr-x 65534 ./a/b/c\n-rw-r--r-- 65534 ./empty\n" +
			"drwxr-xr-x 65534 ./folder\ndrwxr-xr-x 65534 ./in\n-rw-r--r-- 65534 ./in/data\n-rw-r--r-- 65534 ./in/kept\n" +
			"-rwxr-xr-x 65534 ./tool\n\x00\xff\r\nran\n",
		bare,
		"drwxrwxrwt 0 .\ndrwxr-xr-x 65534 ./folder\ndrwxr-xr-x 65534 ./in\n-rw-r--r-- 65534 ./in/kept\n",
		bare,
	} {
		require.Equal(t, want, string(got[i].Stdout.Data), "test %d", i)
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestCompileStepDoesNotDecideWhatATestFinds(t *testing.T) {
	t.Parallel()
	image := testenv.Image(t)
	// What a hostile submission can put in the way of files that it guesses.
	build := `ln -s /etc passwords; ln -s /etc/passwd one; mkdir -p two/x; touch two/x/y; chmod 0 two/x two; echo file >three; mkfifo four
mkdir five; chmod 0 five; echo five >.six; ln .six six; chmod 0 six`
	table, err := sandbox.NewLanguages([]sandbox.Language{{
		Name: "make", Image: image, File: "build.sh", Compile: []string{"bash", "{file}"},
		Run: []string{"bash", "-c", "for f in passwords/p one two three/x four five/x six; do cat $f; done; cat .six"},
	}})
	require.NoError(t, err)
	b := setup(t, func(o *Options) { o.Languages = table })
	var files []sandbox.File
	for _, path := range []string{"passwords/p", "one", "two", "three/x", "four", "five/x", "six"} {
		files = append(files, sandbox.File{Path: path, Data: []byte(path + "\n")})
	}
	got, whole := b.runTests(t, sandbox.Program{Language: "make", Source: []byte(build)}, sandbox.Test{Files: files}, sandbox.Test{Files: files})
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	require.Len(t, got, 2)
	for _, result := range got {
		require.Equal(t, "passwords/p\none\ntwo\nthree/x\nfour\nfive/x\nsix\n", string(result.Stdout.Data), "%s", result.Stderr.Data)
		require.Contains(t, string(result.Stderr.Data), ".six: Permission denied", "a file with the same inode was not written")
	}
}

func TestFilesOfEachTestComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("read -r n", `mkdir -p out; echo "$n" >out/n.txt; printf '\0\377' >bytes; chmod 755 bytes`,
		`ln -s /etc/passwd out/link.txt; mkfifo out/fifo.txt; truncate -s 20M out/huge.txt`,
		`case $n in fail) exit 3;; hang) sleep 600;; kill) kill -9 $$;; memory) head -c 400M /dev/zero | tail;; esac`)
	p.Outputs = []string{"out/n.txt"}
	p.Limits.Memory = ptr(64 * sandbox.MiB) // soon used up, also where fresh memory is slow
	refused := []sandbox.RefusedFile{
		{Path: "out/fifo.txt", Reason: "is a FIFO, not a file"},
		{Path: "out/huge.txt", Reason: "has 20971520 bytes"},
		{Path: "out/link.txt", Reason: "is a symbolic link, not a file"},
	}
	test := func(id string, outputs ...string) sandbox.Test {
		limit := testenv.Scale(t, 10*time.Second)
		if id == "hang" {
			limit = testenv.Scale(t, 500*time.Millisecond)
		}
		return sandbox.Test{ID: id, Stdin: []byte(id + "\n"), Outputs: outputs, WallTime: wall(limit)}
	}
	got, whole := b.runTests(t, p, test("fine", "out/*.txt", "bytes"), test("none"), test("fail", "out/n.txt"), test("hang", "out/n.txt"),
		test("kill", "**"), test("memory", "out/n.txt", "absent"), test("last", "bytes"))
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	bytesFile := sandbox.File{Path: "bytes", Data: []byte("\x00\xff"), Executable: true}
	for i, want := range []struct {
		outcome sandbox.Outcome
		files   []sandbox.File
	}{
		{sandbox.OutcomeOK, []sandbox.File{bytesFile, {Path: "out/n.txt", Data: []byte("fine\n")}}},
		{sandbox.OutcomeOK, nil},
		{sandbox.OutcomeNonzeroExit, []sandbox.File{{Path: "out/n.txt", Data: []byte("fail\n")}}},
		{sandbox.OutcomeWallTimeout, []sandbox.File{{Path: "out/n.txt", Data: []byte("hang\n")}}},
		{sandbox.OutcomeSignaled, []sandbox.File{bytesFile, {Path: "main.sh", Data: p.Source}, {Path: "out/n.txt", Data: []byte("kill\n")}}},
		{sandbox.OutcomeOutOfMemory, []sandbox.File{{Path: "out/n.txt", Data: []byte("memory\n")}}},
		{sandbox.OutcomeOK, []sandbox.File{bytesFile}},
	} {
		require.Equal(t, want.outcome, got[i].Outcome, "%s: %s", got[i].ID, got[i].Message)
		require.Equal(t, want.files, got[i].Files, got[i].ID)
		if i != 0 && i != 4 {
			require.Empty(t, got[i].RefusedFiles, got[i].ID)
			continue
		}
		require.Len(t, got[i].RefusedFiles, 3)
		byPath := map[string]string{}
		for _, file := range got[i].RefusedFiles {
			byPath[file.Path] = file.Reason
		}
		for _, want := range refused {
			require.Contains(t, byPath[want.Path], want.Reason)
		}
	}
	require.Equal(t, []sandbox.File{{Path: "out/n.txt", Data: []byte("last\n")}}, whole.Files, "what the program asks for, of the last test")
	require.Empty(t, whole.RefusedFiles)
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestBoundsOnFilesOfATestAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("for i in 1 2 3 4; do printf 1234 >f$i; done")
	p.Limits.FilesOut, p.Limits.FileBytes = ptr(2), ptr(int64(9))
	got, _ := b.runTests(t, p, make([]sandbox.Test, 3)...)
	require.Len(t, got, 3)
	test := sandbox.Test{Outputs: []string{"f*"}}
	got, _ = b.runTests(t, p, test, test)
	for _, result := range got {
		require.Equal(t, []sandbox.File{{Path: "f1", Data: []byte("1234")}, {Path: "f2", Data: []byte("1234")}}, result.Files, "for each test anew")
		require.Equal(t, []sandbox.RefusedFile{{Path: "f3", Reason: "more than 2 files match", Limit: true}, {Path: "f4", Reason: "more than 2 files match", Limit: true}}, result.RefusedFiles)
	}
}

func TestFilesOfATestThatCannotBePlacedAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("echo ran")
	p.Limits.Workspace = ptr(sandbox.MiB)
	file := func(path string, size int) sandbox.File { return sandbox.File{Path: path, Data: make([]byte, size)} }
	for want, files := range map[string][]sandbox.File{
		`test "x": files[0].path: "../a" is not a clean relative path`:               {file("../a", 0)},
		`test "x": files: "a" is a file and "a/b" needs it as a directory`:           {file("a", 0), file("a/b", 0)},
		`test "x": files: "a" is a file and "a/b/" needs it as a directory`:          {file("a/b/", 0), file("a", 0)},
		`test "x": files: 1052672 bytes are needed for them: the workspace has 1048`: {file("a", 1<<20)}, // one page with the program's
	} {
		got, whole := b.runTests(t, p, sandbox.Test{ID: "fine", Files: []sandbox.File{file("a/", 0), file("a/b", 1<<20-4096)}}, sandbox.Test{ID: "x", Files: files})
		require.Len(t, got, 1)
		require.Equal(t, "ran\n", string(got[0].Stdout.Data), got[0].Message)
		require.Equal(t, sandbox.OutcomeRejected, whole.Outcome)
		require.Contains(t, whole.Message, want)
	}
}
