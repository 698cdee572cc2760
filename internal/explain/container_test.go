package explain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// containerCase is real code that must give a note.
type containerCase struct {
	name    string
	program sandbox.Program
	kind    Kind
	says    string
}

func limitsInContainers() []containerCase {
	small := program("bash", "head -c 3000000 /dev/zero > /workspace/big")
	small.Limits.Workspace = ptr(2 * sandbox.MiB)
	caught := program("python", "try: open('/tmp/big', 'wb').write(bytes(3 << 20))", "except OSError as e: print(e)")
	caught.Limits.Tmp = ptr(2 * sandbox.MiB)
	endless := program("bash", "yes")
	endless.Limits.OutputKill = ptr(sandbox.MiB)
	busy := program("python", "print('begun')", "while True: pass")
	busy.Limits.CPUTime = ptr(sandbox.Seconds(300 * time.Millisecond))
	link := program("bash", "ln -s /etc/passwd link", "echo made")
	link.Outputs = []string{"link"}
	many := program("python", "import os, time", "try:", "    while True:", "        if os.fork() == 0: time.sleep(60)", "except BlockingIOError: print('refused')")
	return []containerCase{
		{"python fills its memory", program("python", "x = bytearray(400 << 20)"), OutOfMemory, "the limit is 256 MiB for the program and its files in /workspace and /tmp together, and the kernel killed it (highest use: 2"},
		{"a child fills its memory", program("python", "import subprocess, sys", "print(subprocess.run([sys.executable, '-c', 'x = bytearray(400 << 20)']).returncode)"), OutOfMemory, "the kernel killed one of its processes"},
		{"node fills its heap", program("node", "const all = []; for (;;) all.push(new Array(1000).fill(all.length));"), HeapFull, "follows the memory limit of 256 MiB"},
		{"python sleeps", within(program("python", "import time", "print('step 1')", "print('step 2')", "time.sleep(60)"), 700*time.Millisecond), WallTimeout, `stopped at the wall-clock limit of 0.7 s. Until then it wrote 14 bytes to stdout, at last the line "step 2".`},
		{"python computes", busy, CPUTimeout, `stopped at the CPU-time limit of 0.3 s. Until then it wrote 6 bytes to stdout, at last the line "begun".`},
		{"bash writes without end", endless, OutputLimit, "stopped when a stream passed the limit of 1 MiB"},
		{"bash writes 100,000 lines", program("bash", "seq 100000"), OutputCut, "of 588895 bytes of stdout are shown, its beginning and its end. The rest was not kept."},
		{"python forks", many, PIDsLimit, "the limit is 64 at a time"},
		{"bash fills the workspace", small, DiskFull, "/workspace holds 2 MiB and /tmp 64 MiB"},
		{"python fills /tmp and goes on", caught, DiskFull, "/workspace holds 128 MiB and /tmp 2 MiB"},
		{"c uses a null pointer", program("c", "int main(void) { volatile int *p = 0; return *p; }"), Signaled, "killed by SIGSEGV (signal 11): it used memory that is not its own"},
		{"c fails an assertion", program("c", "#include <assert.h>", "int main(int n, char **v) { assert(n == 7); }"), Signaled, "killed by SIGABRT (signal 6): it gave up by itself"},
		{"c divides by zero", program("c", "int main(int n, char **v) { volatile int zero = 0; return n / zero; }"), Signaled, "killed by SIGFPE (signal 8): it divided an integer by zero"},
		{"c does not compile", program("c", "int main(void) { return x; }"), CompileError, "Repair what the compiler says"},
		{"a link does not come back", link, NotKept, "link ("},
	}
}

func surroundingsInContainers() []containerCase {
	const network = "there is no network in the sandbox"
	return []containerCase{
		{"python fetches", program("python", "import urllib.request", "urllib.request.urlopen('http://example.com')"), NoNetwork, network},
		{"python connects to an address", program("python", "import socket", "socket.create_connection(('192.0.2.1', 80), 2)"), NoNetwork, network},
		{"node fetches", program("node", "fetch('http://example.com').then(console.log)"), NoNetwork, network},
		{"bash connects", program("bash", "exec 3<>/dev/tcp/example.com/80"), NoNetwork, network},
		{"python fetches what no rule allows", networked(program("python", "import urllib.request", "urllib.request.urlopen('http://example.com')")), NetworkRefused, "example.com is not among network.rules[0].domains (pypi.org)"},
		{"python imports what is not there", program("python", "import requests"), ModuleMissing, "requests is not installed, and nothing can be installed. There is what comes with the language (python) itself"},
		{"python runs pip", program("bash", "python3 -m pip install requests"), ModuleMissing, "pip is not installed"},
		{"node requires what is not there", program("node", "require('express')"), ModuleMissing, "express is not installed"},
		{"node requires a file", program("node", "require('./lib.js')"), ModuleMissing, "there is no file ./lib.js"},
		{"node imports what is not there", program("node", "import('express')"), ModuleMissing, "express is not installed"},
		{"cpp includes what is not there", program("cpp", "#include <boost/any.hpp>", "int main() {}"), ModuleMissing, "boost/any.hpp is not installed"},
		{"bash runs git", program("bash", "git status"), CommandMissing, "there is no command git"},
		{"bash becomes git", program("bash", "exec git status"), CommandMissing, "there is no command git"},
		{"sh runs git", program("bash", "sh -c 'git status'"), CommandMissing, "there is no command git"},
		{"env runs git", program("bash", "env git status"), CommandMissing, "there is no command git"},
		{"python runs git", program("python", "import subprocess", "subprocess.run(['git', 'status'])"), CommandMissing, "there is no command git"},
		{"node runs git", program("node", "require('child_process').spawn('git', ['status'])"), CommandMissing, "there is no command git"},
		{"python asks", program("python", "input('name? ')"), NoStdin, "pass all that it reads in the argument stdin"},
		{"python writes to /etc", program("python", "open('/etc/x', 'w')"), ReadOnly, "Use a path below /workspace"},
		{"python writes bytes", program("python", "import sys", "sys.stdout.buffer.write(bytes([0xff, 0xfe, 0x00]))"), NotText, "3 bytes of the output are not UTF-8 text"},
		{"python prints nothing", program("python", "6 * 7"), PrintedNothing, "use print(...)"},
		{"there is no such language", program("cobol", "DISPLAY 42."), UnknownLanguage, `language "cobol" is unknown: want one of bash, c, cpp`},
		{"a limit is too high", within(program("bash", "true"), 24*time.Hour), Rejected, "limits.wall_seconds: 24h0m0s is not allowed: want 10ms to 15m0s"},
	}
}

func fullInContainers() []containerCase {
	return []containerCase{
		{"python imports what the large image has not", program(fullPython, "import sklearn"), ModuleMissing, "Python has its standard library, numpy, pandas, scipy, matplotlib and pytest."},
		{"java imports what is not there", program("java", "import org.json.JSONObject;", "public class Main { public static void main(String[] a) {} }"), ModuleMissing, "org.json is not installed"},
		{"java fills its heap", program("java", "public class Main { public static void main(String[] a) { long[][] all = new long[1000][]; for (int i = 0; i < 1000; i++) all[i] = new long[1000000]; System.out.println(all.length); } }"), HeapFull, "heap of the language's runtime was full"},
		{"java looks for a host", program("java", "public class Main { public static void main(String[] a) throws Exception { System.out.println(java.net.InetAddress.getByName(\"example.com\")); } }"), NoNetwork, "there is no network"},
		{"go imports what is not there", program("go", "package main", "import _ \"example.com/x\"", "func main() {}"), ModuleMissing, "example.com/x is not installed"},
		{"rust uses what is not there", program("rust", "use rand::random;", "fn main() { println!(\"{}\", random::<u8>()); }"), ModuleMissing, "rand is not installed"},
		{"ruby requires what is not there", program("ruby", "require 'rails'"), ModuleMissing, "rails is not installed"},
		{"perl uses what is not there", program("perl", "use Moose;"), ModuleMissing, "Moose is not installed"},
		{"lua requires what is not there", program("lua", "require('socket')"), ModuleMissing, "socket is not installed"},
		{"php fills its memory", program("php", "<?php $x = []; while (true) { $x[] = str_repeat('x', 1000000); }"), HeapFull, "heap of the language's runtime was full"},
	}
}

// notOnGVisor are the notes that do not come with SANDLOOP_TEST_RUNTIME=runsc.
var notOnGVisor = map[string]string{
	"TestRealLimitsGiveTheirNotes/python_fills_its_memory":     testenv.OneLimit,
	"TestRealLimitsGiveTheirNotes/a_child_fills_its_memory":    testenv.OneLimit,
	"TestRealLimitsGiveTheirNotes/python_forks":                testenv.OneLimit,
	"TestRealSurroundingsGiveTheirNotes/python_writes_to_/etc": "it asks whether the user may write before it asks whether the file system can be written",
}

// checkInContainers runs each program in a container of its own and looks for the note.
func checkInContainers(t *testing.T, cases []containerCase) {
	runner := setupDocker(t)
	for _, c := range cases { // one after the other: containers are many and processors few
		t.Run(c.name, func(t *testing.T) {
			testenv.Except(t, "runsc", notOnGVisor)
			result, err := runner.Run(t.Context(), c.program)
			require.NoError(t, err)
			description := Describe(Call{Language: c.program.Language, Result: result}, 0)
			require.Contains(t, kindsOf(description), c.kind, "%s\n%+v", description, result)
			for _, note := range description.Notes {
				if note.Kind == c.kind {
					require.Contains(t, note.Text, c.says)
				}
			}
		})
	}
}

func kindsOf(d Description) (kinds []Kind) {
	for _, note := range d.Notes {
		kinds = append(kinds, note.Kind)
	}
	return kinds
}

func TestRealLimitsGiveTheirNotes(t *testing.T) {
	t.Parallel()
	checkInContainers(t, limitsInContainers())
}

func TestRealSurroundingsGiveTheirNotes(t *testing.T) {
	t.Parallel()
	checkInContainers(t, surroundingsInContainers())
}

func TestTheLargeImageGivesItsNotes(t *testing.T) {
	t.Parallel()
	testenv.FullImage(t)
	checkInContainers(t, fullInContainers())
}

func TestWhatTheNotesPromiseIsInstalled(t *testing.T) {
	t.Parallel()
	testenv.FullImage(t)
	result, err := setupDocker(t).Run(t.Context(), program(fullPython, "import "+strings.Join(FullPython(), ", "), "print('all there')"))
	require.NoError(t, err)
	require.Equal(t, "all there", Describe(Call{Language: "python", Result: result}, 0).String())
}

func TestARealCancelGivesItsNote(t *testing.T) {
	t.Parallel()
	runner := setupDocker(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := within(program("bash", "echo begun", "sleep 60"), testenv.Scale(t, 30*time.Second))
	p.OnOutput = func(sandbox.Output) { cancel(sandbox.ErrCanceled) }
	result, err := runner.Run(ctx, p)
	require.NoError(t, err)
	description := Describe(Call{Language: "bash", Result: result}, 0)
	require.Equal(t, []Kind{Canceled}, kindsOf(description))
	require.Contains(t, description.String(), "begun\n[canceled: somebody ended the call before it was done. The output is what came until then.")
}

// The notes that no program of a container alone can bring about are triggered through the queue, in
// internal/agent/toolbox.
func TestEveryNoteIsTriggeredInAContainer(t *testing.T) {
	t.Parallel()
	covered := []Kind{Canceled, OurFailure, StartedAnew, NotLive, Ended}
	for _, c := range append(append(limitsInContainers(), surroundingsInContainers()...), fullInContainers()...) {
		covered = append(covered, c.kind)
	}
	require.Subset(t, covered, Kinds())
}
