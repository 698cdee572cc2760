package docker

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// leave is a Python program that leaves what its stdin names, or prints whether it finds that.
// It makes System V objects and message queues by their system calls, as Python has none.
const leave = `
import ctypes, fcntl, glob, os, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
machine = os.uname().machine
call = {"x86_64": dict(shmget=29, semget=64, msgget=68, mq_open=240, prlimit=302, setaffinity=203),
        "aarch64": dict(shmget=194, semget=190, msgget=186, mq_open=180, prlimit=261, setaffinity=122)}[machine]
create = 0o1000
def sysv(flags):
    return [libc.syscall(call["shmget"], 77, 4096, flags | 0o600),
            libc.syscall(call["msgget"], 77, flags | 0o600),
            libc.syscall(call["semget"], 77, 1, flags | 0o600)]
def hold():
    for _ in range(2):
        if os.fork(): return
    os.setsid()
    s = socket.socket(socket.AF_UNIX); s.bind("\0left"); s.listen()
    lock = open("/workspace/main.py"); fcntl.flock(lock, fcntl.LOCK_EX)
    os.close(1); os.close(2)
    time.sleep(600)
def abstract():
    s = socket.socket(socket.AF_UNIX)
    try: s.connect("\0left"); return True
    except OSError: return False
def locked():
    with open("/workspace/main.py") as f:
        try: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB); return False
        except OSError: return True

what = input()
if what == "leave":
    for place in ("/tmp", "/workspace", "/dev/shm"):
        os.makedirs(place + "/deep/er/down", exist_ok=True)
        open(place + "/file", "w").write("x")
        open(place + "/.hidden\n\xff", "w").write("x")
        os.mkfifo(place + "/fifo")
        os.symlink("/etc/passwd", place + "/link")
        os.symlink("/etc", place + "/links")
        socket.socket(socket.AF_UNIX).bind(place + "/socket")
        os.chmod(place + "/deep/er/down", 0)
        os.chmod(place + "/deep/er", 0o100)
        os.chmod(place + "/deep", 0)
        os.chmod(place + "/file", 0)
    os.remove("/workspace/data.txt")
    open("/workspace/main.py", "a").write("print('changed')\n")
    os.chmod("/workspace/main.py", 0o777)
    os.rename("/workspace/sub", "/workspace/moved")
    assert min(sysv(create)) >= 0
    assert libc.syscall(call["mq_open"], b"left", os.O_CREAT | os.O_RDWR, 0o600, None) >= 0
    os.nice(0)
    hold()
else:
    print("processes", len([p for p in os.listdir("/proc") if p.isdigit()]))
    print("files", sorted(os.listdir("/tmp") + os.listdir("/dev/shm") + os.listdir("/dev/mqueue")))
    print("workspace", sorted(os.listdir("/workspace")), os.listdir("/workspace/sub"))
    print("modes", [oct(os.stat("/workspace/" + f).st_mode) for f in ("main.py", "data.txt", "sub", "sub/tool")])
    print("data", open("/workspace/data.txt").read(), "changed" in open("/workspace/main.py").read().split("assert")[-1].split("else:")[-1][-20:])
    print("sysv", sysv(0), [len(open("/proc/sysvipc/" + k).readlines()) for k in ("shm", "msg", "sem")])
    print("mqueue", libc.syscall(call["mq_open"], b"left", os.O_RDWR))
    print("abstract", abstract(), "locked", locked())
`

func TestNothingThatATestLeavesIsSeenByTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	p := sandbox.Program{Language: "python", Source: []byte(leave), Files: []sandbox.File{
		{Path: "data.txt", Data: []byte("given")}, {Path: "sub/tool", Data: []byte("#!/bin/sh\n"), Executable: true},
	}}
	look, mess := sandbox.Test{ID: "look", Stdin: []byte("look\n")}, sandbox.Test{ID: "leave", Stdin: []byte("leave\n")}
	got, whole := b.runTests(t, p, look, mess, look, mess, mess, look)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	for _, result := range got {
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, "%s: %s %s", result.ID, result.Message, result.Stderr.Data)
	}
	want := `processes 2
files []
workspace ['data.txt', 'main.py', 'sub'] ['tool']
modes ['0o100644', '0o100644', '0o40755', '0o100755']
data given False
sysv [-1, -1, -1] [1, 1, 1]
mqueue -1
abstract False locked False
`
	for _, i := range []int{0, 2, 5} {
		require.Equal(t, want, string(got[i].Stdout.Data))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts, "all in one container")
}

// shoot destroys its own program and source; ls shows what a later test finds.
const shoot = `#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
	struct stat s;
	if (stat(".sandloop-out", &s) || stat("main.c", &s)) return 9;
	puts("whole");
	chmod(".sandloop-out", 0);
	unlink("main.c");
	FILE *f = fopen("new", "w");
	fputs("#!/bin/false", f);
	fclose(f);
	return rename("new", ".sandloop-out");
}
`

func TestProgramThatReplacesItselfIsRestored(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	got, _ := b.runTests(t, cProgram(shoot), make([]sandbox.Test, 3)...)
	for _, result := range got {
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
		require.Equal(t, "whole\n", string(result.Stdout.Data))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestWhatTheCompileStepMadeIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	image := testenv.Image(t)
	build := `umask 0; mkdir -p a/b a/closed; echo text >a/b/file; chmod 4750 a/b/file; ln a/b/file a/second; ln -s b/file a/link
ln -s /etc/passwd outside; ln -s nowhere dangling; mkfifo fifo; touch -d '2001-02-03 04:05:06.789' a/b/file; echo x >a/closed/in
chmod 0 a/closed/in; chmod 0 a/closed; touch -d '2002-02-02' a; head -c 300000 /dev/zero | tr '\0' z >large; echo /tmp >/tmp/left`
	look := `ls /tmp; stat -c '%n %A %h %s' a a/b a/b/file a/second a/link a/closed outside dangling large
readlink a/link outside dangling; stat -c %y a/b/file a | cut -c1-23; [ a/b/file -ef a/second ] && echo same; cat a/second; ls; tr -d z <large
chmod 700 a/closed; stat -c %A a/closed/in; rm -rf * 2>/dev/null`
	table, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "make", Image: image, File: "build.sh", Compile: []string{"bash", "{file}"}, Run: []string{"bash", "-c", look}},
	})
	require.NoError(t, err)
	b := setup(t, func(o *Options) { o.Languages = table })
	got, whole := b.runTests(t, sandbox.Program{Language: "make", Source: []byte(build)}, make([]sandbox.Test, 2)...)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	require.Len(t, got, 2)
	for _, result := range got {
		require.Equal(t, `a drwxrwxrwx 4 120
a/b drwxrwxrwx 2 60
a/b/file -rwsr-x--- 2 5
a/second -rwsr-x--- 2 5
a/link lrwxrwxrwx 1 6
a/closed d--------- 2 60
outside lrwxrwxrwx 1 11
dangling lrwxrwxrwx 1 7
large -rw-rw-rw- 1 300000
b/file
/etc/passwd
nowhere
2001-02-03 04:05:06.789
2002-02-02 00:00:00.000
same
text
a
build.sh
dangling
large
outside
----------
`, string(result.Stdout.Data), "%s", result.Stderr.Data)
	}
}

func TestHostileTreesAreWiped(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	// As many as are wiped in good time, where the processor is emulated too: then the container is kept.
	few := func(usual int) string {
		return strconv.Itoa(usual * int(time.Second) / int(testenv.Scale(t, time.Second)))
	}
	p := python("deep, wide = " + few(20000) + ", " + few(60000) + `
import os, sys
what = input()
if what == "deep":
    os.chdir("/tmp")
    for i in range(deep):
        os.mkdir("d"); os.mkdir(".wipe-%d" % i); os.chdir("d")
    for _ in range(deep):
        os.chdir(".."); os.chmod("d", 0)
elif what == "wide":
    for i in range(wide): os.close(os.open("/tmp/%d" % i, os.O_CREAT, 0))
elif what == "names":
    os.mkdir("/tmp/.wipe-1"); open("/tmp/.wipe-1/x", "w"); open("/tmp/.wipe-2", "w")
    os.makedirs("/tmp/.wipe-3/.wipe-4/.wipe-1/.wipe-3/x"); os.makedirs("/tmp/a/b/c/d"); os.chmod("/tmp/a/b", 0o111)
elif what == "objects":
    import ctypes
    libc, x86 = ctypes.CDLL(None), os.uname().machine == "x86_64"
    for i in range(3000):
        for call, args in ((29 if x86 else 194, (0, 4096, 0)), (68 if x86 else 186, (0, 0)), (64 if x86 else 190, (0, 1, 0))):
            assert libc.syscall(call, *args) >= 0
    for i in range(8): assert libc.syscall(240 if x86 else 180, b"q%d" % i, os.O_CREAT | os.O_RDWR, 0, None) >= 0
elif what == "large":
    try:
        with open("/workspace/x", "wb") as f:
            while True: f.write(bytes(1 << 20))
    except OSError: pass
left = [len(open("/proc/sysvipc/" + k).readlines()) - 1 for k in ("shm", "msg", "sem")] + os.listdir("/dev/mqueue")
print(what, len(os.listdir("/tmp")), os.listdir("/workspace"), left)
`)
	p.Limits.CPUs, p.Limits.Memory = ptr(1.0), ptr(512*sandbox.MiB)
	var tests []sandbox.Test
	for _, what := range []string{"deep", "a", "wide", "b", "names", "c", "large", "d", "objects", "e"} {
		tests = append(tests, sandbox.Test{ID: what, Stdin: []byte(what + "\n")})
	}
	got, _ := b.runTests(t, p, tests...)
	require.Len(t, got, 10)
	for i := 0; i < len(got); i += 2 {
		require.Equal(t, sandbox.OutcomeOK, got[i].Outcome, "%s: %s %s", got[i].ID, got[i].Message, got[i].Stderr.Data)
		require.Equal(t, got[i+1].ID+" 0 ['main.py'] [0, 0, 0]\n", string(got[i+1].Stdout.Data))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts, "all in one container")
}

func TestContainerThatCannotBeCleanedIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	p := python("import os, socket", "what = input()", "server = socket.create_server(('127.0.0.1', 9000), reuse_port=False)",
		"if what == 'mess':", // a connection in TIME-WAIT
		"    client = socket.create_connection(('127.0.0.1', 9000))", "    other, _ = server.accept()",
		"    client.close()", "    other.recv(1)", "    other.close()",
		"print(what)")
	mess, fine := sandbox.Test{ID: "mess", Stdin: []byte("mess\n")}, sandbox.Test{ID: "fine", Stdin: []byte("fine\n")}
	got, whole := b.runTests(t, p, fine, mess, fine, fine, mess)
	require.Len(t, got, 5)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome)
	for i, want := range []string{"fine\n", "mess\n", "fine\n", "fine\n", "mess\n"} {
		require.Equal(t, sandbox.OutcomeOK, got[i].Outcome, "%s %s", got[i].Message, got[i].Stderr.Data)
		require.Equal(t, want, string(got[i].Stdout.Data))
	}
	require.EqualValues(t, 2, b.Stats().ColdStarts, "one more after the first mess, none after the last test")
}

func TestNoTestChangesWhatTheNextInherits(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	p := python("import os, resource",
		"limits = [resource.getrlimit(i) for i in range(16)]",
		"print(limits, os.nice(0), os.sched_getaffinity(0), os.sched_getscheduler(0))",
		"def attempt(change, *args):",
		"    try: change(*args)",
		"    except OSError: pass",
		"for thread in map(int, os.listdir('/proc/1/task')):",
		"    for i in range(16): attempt(resource.prlimit, thread, i, (0, 0))",
		"    attempt(os.setpriority, os.PRIO_PROCESS, thread, 19)",
		"    attempt(os.setpriority, os.PRIO_PGRP, thread, 19)",
		"    attempt(os.sched_setscheduler, thread, os.SCHED_BATCH, os.sched_param(0))",
		"    attempt(os.sched_setaffinity, thread, {0})",
		"attempt(os.setpriority, os.PRIO_USER, 0, 19)", "attempt(os.setpriority, os.PRIO_USER, os.getuid(), 19)")
	got, _ := b.runTests(t, p, make([]sandbox.Test, 3)...)
	for _, result := range got {
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, "%s", result.Stderr.Data)
		require.Equal(t, string(got[0].Stdout.Data), string(result.Stdout.Data))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestCompileStepThatLeavesTooMuchIsACompileError(t *testing.T) {
	t.Parallel()
	image := testenv.Image(t)
	table, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "make", Image: image, File: "build.sh", Compile: []string{"bash", "{file}"}, Run: []string{"echo", "ran"}},
	})
	require.NoError(t, err)
	b := setup(t, func(o *Options) { o.Languages = table })
	for name, line := range map[string]string{
		"sparse":  "truncate -s 1T large",
		"content": "head -c 125M /dev/zero >large", // half of 256 MiB, less what sandbox-init needs
		"left":    "python3 -c \"import socket as s; l = s.create_server(('127.0.0.1', 9900)); c = s.create_connection(('127.0.0.1', 9900)); o = l.accept()[0]; c.close(); o.recv(1)\"",
	} {
		got, whole := b.runTests(t, sandbox.Program{Language: "make", Source: []byte(line + "\n")}, sandbox.Test{})
		require.Empty(t, got, name)
		require.Equal(t, sandbox.OutcomeCompileError, whole.Outcome, "%s: %s", name, whole.Message)
		require.Contains(t, whole.Message, "compile: unclean: ", name)
		require.Equal(t, sandbox.OutcomeOK, whole.Compile.Outcome, name)
	}
}

func TestLargeStdinOfEachTest(t *testing.T) {
	t.Parallel()
	b := setup(t, dockersProfile)
	p := python("import hashlib, sys", "print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())")
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	got, whole := b.runTests(t, p, sandbox.Test{Stdin: data}, sandbox.Test{}, sandbox.Test{Stdin: data}, sandbox.Test{Stdin: data[:1<<20]})
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	require.Len(t, got, 4)
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n", string(got[1].Stdout.Data))
	require.Equal(t, string(got[0].Stdout.Data), string(got[2].Stdout.Data))
	require.NotEqual(t, string(got[0].Stdout.Data), string(got[3].Stdout.Data))
}
