package supervisor_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func TestFilesGoInAndComeBack(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte{0, 255, '\n'}, 100_000) // 300,000 bytes
	j := command("sh", "-c", "stat -c '%a %n' a/b/c.bin run.sh && ./run.sh && cp a/b/c.bin out.bin").
		withFile("a/b/c.bin", big, false).
		withFile("run.sh", []byte("#!/bin/sh\necho ran > sub.txt; mkdir -p d/e; : > d/e/empty; chmod 755 sub.txt\n"), true).
		withFile("empty", nil, false)
	j.Outputs = []string{"*.bin", "sub.txt", "d/**/empty", "empty"}
	r := run(t, j)
	require.Empty(t, r.fault)
	require.Equal(t, "644 a/b/c.bin\n755 run.sh\n", string(r.stdout), "%s", r.stderr)
	require.Equal(t, map[string][]byte{"out.bin": big, "sub.txt": []byte("ran\n"), "d/e/empty": {}, "empty": {}}, r.files)
	require.True(t, r.headers["sub.txt"].Executable)
	require.False(t, r.headers["out.bin"].Executable)
	require.Empty(t, r.refused)
}

func TestHostileFilesAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	j := python(`
import os, socket
os.symlink("/etc/passwd", "link.out")
os.symlink("/etc", "linkdir")
os.mkfifo("fifo.out")
socket.socket(socket.AF_UNIX).bind("socket.out")
os.mkdir("dir.out")
open(b"bad\xff.out", "w").write("x")
open("new\nline.out", "w").write("newline")
open("huge.out", "w").truncate(10 << 30)
open("closed.out", "w").write("x"); os.chmod("closed.out", 0)
os.mkdir("closed"); open("closed/in.out", "w").write("x"); os.chmod("closed", 0)
open("good.out", "w").write("good")
`)
	j.Outputs = []string{"**/*.out"}
	r := run(t, j)
	require.Zero(t, r.last().ExitCode, "%s", r.stderr)
	require.Equal(t, map[string][]byte{"good.out": []byte("good"), "new\nline.out": []byte("newline")}, r.files)
	require.Equal(t, map[string]string{
		"link.out": "is a symbolic link, not a file", "fifo.out": "is a FIFO, not a file", "socket.out": "is a socket, not a file",
		"bad\uFFFD.out": `its name "bad\xff.out" is not UTF-8`,
		"huge.out":      "has 10737418240 bytes: 16777212 are left of the 16777216 that all files may have",
		"closed.out":    "cannot be opened: permission denied", "closed": "cannot be listed: permission denied",
	}, r.refused)
}

func TestEndlessTreesAreBounded(t *testing.T) {
	t.Parallel()
	j := python(`
import os
for i in range(100):
    os.mkdir("d"); os.chdir("d")
os.chdir("/workspace")
os.mkdir("many")
open("many/first", "w").close()
for i in range(150000): os.link("many/first", "many/%d" % i)
`)
	j.Outputs = []string{"**/nothing"}
	r := run(t, j)
	require.Zero(t, r.last().ExitCode, "%s", r.stderr)
	require.Empty(t, r.files)
	require.Equal(t, "more than 100000 entries: the rest was not looked at", r.refused["."])
}

func TestFileCountAndBytesAreBounded(t *testing.T) {
	t.Parallel()
	j := command("sh", "-c", "for i in 1 2 3 4 5; do printf 12345 > f$i; done; printf 123456789 > f0")
	j.Outputs = []string{"f*"}
	j.FilesOut, j.FileBytes = 3, 20
	r := run(t, j)
	require.Equal(t, map[string][]byte{"f0": []byte("123456789"), "f1": []byte("12345"), "f2": []byte("12345")}, r.files)
	require.Equal(t, map[string]string{"f3": "more than 3 files match", "f4": "more than 3 files match", "f5": "more than 3 files match"}, r.refused)
}

func TestInputThatDoesNotFitIsAFault(t *testing.T) {
	t.Parallel()
	j := command("true").withFile("big", make([]byte, 100<<10), false)
	j.Expect.WorkspaceBytes = 64 * sandbox.KiB
	r := run(t, j, "--tmpfs", "/workspace:rw,exec,nosuid,nodev,size=65536,mode=1777")
	require.Contains(t, r.fault, "/workspace of 65536 bytes is full")
	require.Empty(t, r.steps)

	j = command("true")
	j.stdin = make([]byte, 20<<20)
	j.Expect.MemoryBytes = 24 * sandbox.MiB
	r = run(t, j, "--memory", "24m", "--memory-swap", "24m")
	require.Contains(t, r.fault, "do not fit into 25165824 bytes of memory")
	require.Empty(t, r.steps)
}

func TestLimitThatIsNotInForceIsAFault(t *testing.T) {
	t.Parallel()
	for field, test := range map[string]struct {
		flags []string
		fault string
	}{
		"memory":       {[]string{"--memory", "300m", "--memory-swap", "300m"}, "memory_bytes: asked for 268435456, the kernel says 314572800"},
		"swap":         {[]string{"--memory-swap", "512m"}, "swap_bytes: asked for 0, the kernel says 268435456"},
		"cpus":         {[]string{"--cpus", "0.6"}, "cpus: asked for 0.5, the kernel says 0.6"},
		"pids":         {[]string{"--pids-limit", "81"}, "pids: asked for 64, the kernel says 65"},
		"no pids":      {[]string{"--pids-limit", "-1"}, "pids: asked for 64, the kernel says "}, // -1, or what systemd gives every service
		"tmp":          {[]string{"--tmpfs", "/tmp:rw,size=1048576,mode=1777"}, "tmp_bytes: asked for 67108864, the kernel says 1048576"},
		"files":        {[]string{"--ulimit", "nofile=512:2048"}, "open_files: asked for 1024, the kernel says 2048"},
		"core":         {[]string{"--ulimit", "core=-1"}, "core_bytes: asked for 0, the kernel says -1"},
		"user":         {[]string{"--user", "0:0"}, "uid: asked for 65534, the kernel says 0"},
		"root":         {[]string{"--read-only=false"}, "root_read_only: asked for true, the kernel says false"},
		"privileges":   {[]string{"--security-opt", "no-new-privileges=false"}, "no_new_privs: asked for true, the kernel says false"},
		"seccomp":      {[]string{"--security-opt", "seccomp=unconfined"}, "seccomp: asked for 2, the kernel says 0"},
		"capabilities": {[]string{"--cap-add", "CHOWN"}, "capabilities: asked for none, the kernel says 0000000000000001"},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			r := run(t, command("echo", "user code"), test.flags...)
			require.Contains(t, r.fault, test.fault)
			if field == "no pids" {
				require.Regexp(t, `says (-1|[1-9]\d{3,})$`, r.fault)
			}
			require.Empty(t, r.steps)
			require.Empty(t, r.stdout)
		})
	}
}

func TestViewIsWhatTheKernelSays(t *testing.T) {
	t.Parallel()
	r := run(t, command("true"))
	view := r.start.Kernel
	require.Contains(t, []int{1, 2}, view.CgroupVersion)
	view.CgroupVersion = 0
	require.Equal(t, sandbox.KernelView{
		MemoryBytes: 268435456, CPUs: 0.5, PIDs: 64, TmpBytes: 67108864, WorkspaceBytes: 134217728, RootReadOnly: true,
		UID: 65534, GID: 65534, Capabilities: "0000000000000000", NoNewPrivs: true, Seccomp: 2, OpenFiles: 1024,
	}, view)
}

func TestBrokenSpecsAreFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*wire.Spec)
		fault  string
	}{
		"no steps":         {func(s *wire.Spec) { s.Steps = nil }, "0 steps"},
		"no argv":          {func(s *wire.Spec) { s.Steps[0].Argv = nil }, "argv"},
		"no wall time":     {func(s *wire.Spec) { s.Steps[0].WallTime = 0 }, "wall time"},
		"no CPU time":      {func(s *wire.Spec) { s.Steps[0].CPUTime = 0 }, "CPU time"},
		"path above":       {func(s *wire.Spec) { s.Files = []wire.FileHeader{{Path: "../x"}} }, `"../x"`},
		"path is absolute": {func(s *wire.Spec) { s.Files = []wire.FileHeader{{Path: "/tmp/x"}} }, `"/tmp/x"`},
		"path twice":       {func(s *wire.Spec) { s.Files = []wire.FileHeader{{Path: "x"}, {Path: "x"}} }, "file exists"},
		"negative size":    {func(s *wire.Spec) { s.Files = []wire.FileHeader{{Path: "x", Size: -1}} }, "size is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command("echo", "user code")
			test.change(&j.Spec)
			r := run(t, j)
			require.Contains(t, r.fault, test.fault, fmt.Sprint(r.steps))
			require.Empty(t, r.steps)
		})
	}
}
