package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func stream(text string) sandbox.Stream {
	return sandbox.Stream{Data: sandbox.Bytes(text), Total: int64(len(text))}
}

// ok is the result of a program that wrote something and exited with 0.
func ok(stdout string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: stream(stdout)}
}

// failed is the result of a program that wrote to stderr and exited with 1.
func failed(stderr string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 1, Stderr: stream(stderr), Message: "exited with code 1"}
}

func ours(outcome sandbox.Outcome, message string) sandbox.Result {
	return sandbox.Result{Outcome: outcome, ExitCode: -1, Message: message}
}

func limited(result sandbox.Result, view sandbox.KernelView) sandbox.Result {
	result.Enforcement.KernelView = view
	return result
}

func on(image string, result sandbox.Result) sandbox.Result {
	result.Enforcement.Image = image
	return result
}

func live(report workspace.LiveReport) *workspace.Report { return &workspace.Report{Live: &report} }

type noteCase struct {
	name string
	call Call
	kind Kind
	want string
}

func limitCases() []noteCase {
	timedOut := ours(sandbox.OutcomeWallTimeout, "stopped at the wall-clock limit of 2 s")
	timedOut.TimedOut, timedOut.Stdout = true, stream("step 1\nstep 2\n")
	cpu := ours(sandbox.OutcomeCPUTimeout, "stopped at the CPU-time limit of 1.5 s")
	killed := limited(ours(sandbox.OutcomeOutOfMemory, "the kernel killed a process for the memory limit of 256 MiB"), sandbox.KernelView{MemoryBytes: 256 << 20})
	killed.ExitCode, killed.Signal, killed.OOMKills, killed.PeakMemory = 137, "SIGKILL", 1, 256<<20
	child := limited(ok("child died\n"), sandbox.KernelView{MemoryBytes: 64 << 20})
	child.OOMKills = 2
	bomb := limited(ours(sandbox.OutcomeWallTimeout, "stopped at the wall-clock limit of 2 s"), sandbox.KernelView{PIDs: 64})
	bomb.PIDsDenied = 5
	full := limited(failed("OSError: [Errno 28] No space left on device\n"), sandbox.KernelView{WorkspaceBytes: 128 << 20, TmpBytes: 64 << 20})
	heap := limited(failed("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n"), sandbox.KernelView{MemoryBytes: 256 << 20})
	heap.Outcome, heap.Signal, heap.ExitCode = sandbox.OutcomeSignaled, "SIGABRT", 134
	suicide := sandbox.Result{Outcome: sandbox.OutcomeSignaled, Signal: "SIGKILL", ExitCode: 137}
	return []noteCase{
		{"the kernel killed the program", Call{Result: killed}, OutOfMemory, "out of memory: the limit is 256 MiB for the program and its files in /workspace and /tmp together, and the kernel killed it (highest use: 256 MiB). Work on the data in pieces, keep less of it at a time, or use smaller types"},
		{"the kernel killed children and the program went on", Call{Result: child}, OutOfMemory, "out of memory: the limit is 64 MiB for the program and its files in /workspace and /tmp together, and the kernel killed 2 of its processes. Work on the data in pieces, keep less of it at a time, or use smaller types"},
		{"a runtime's heap was full", Call{Result: heap}, HeapFull, "out of memory: the heap of the language's runtime was full; its size follows the memory limit of 256 MiB. Work on the data in pieces or keep less of it at a time"},
		{"the wall clock", Call{Result: timedOut}, WallTimeout, `time is over: stopped at the wall-clock limit of 2 s. Until then it wrote 14 bytes to stdout, at last the line "step 2". Do less in one call, pass a larger timeout (in seconds), or use submit_job for long work`},
		{"the wall clock of a live call", Call{Result: timedOut, Live: true, Session: live(workspace.LiveReport{})}, WallTimeout, `time is over: stopped at the wall-clock limit of 2 s. Until then it wrote 14 bytes to stdout, at last the line "step 2". The interpreter lives on, with the variables as they were at that moment. Do less in one call, pass a larger timeout (in seconds), or use submit_job for long work`},
		{"processor time without output", Call{Result: cpu}, CPUTimeout, "processor time is over: stopped at the CPU-time limit of 1.5 s. It had written nothing. Use a faster algorithm or less data, or pass a larger timeout (in seconds)"},
		{"processes on the way to a timeout", Call{Result: bomb}, PIDsLimit, "the kernel refused a process or thread: the limit is 64 at a time, all together. Use a smaller pool, and wait for children before starting others"},
		{"a full disk that the program saw itself", Call{Result: full}, DiskFull, "the disk is full: /workspace holds 128 MiB and /tmp 64 MiB, both within the memory limit. Write less, delete what is not needed, or compress it"},
		{"output past its limit", Call{Result: ours(sandbox.OutcomeOutputLimit, "stopped when a stream passed the limit of 1 MiB")}, OutputLimit, "too much output: stopped when a stream passed the limit of 1 MiB. Print less, or write it to a file in /workspace"},
		{"a compiler's complaint", Call{Result: sandbox.Result{Outcome: sandbox.OutcomeCompileError, ExitCode: 1, Compile: &sandbox.Step{Outcome: sandbox.OutcomeNonzeroExit}}}, CompileError, "the program was not run, since it does not compile. Repair what the compiler says and run it again"},
		{"a compiler that took too long", Call{Result: sandbox.Result{Outcome: sandbox.OutcomeCompileError, ExitCode: -1, Message: "compile: stopped at the wall-clock limit of 30 s", Compile: &sandbox.Step{Outcome: sandbox.OutcomeWallTimeout}}}, CompileError, "the program was not run, since it does not compile: stopped at the wall-clock limit of 30 s. Give the compiler less to do: fewer templates, headers and generated data"},
		{"a segmentation fault", Call{Result: sandbox.Result{Outcome: sandbox.OutcomeSignaled, Signal: "SIGSEGV", ExitCode: 139}}, Signaled, "the program was killed by SIGSEGV (signal 11): it used memory that is not its own: an index out of bounds, a bad or null pointer, or recursion without end. Output that it had not flushed is lost; print to stderr, or flush, to see how far it got"},
		{"a program that killed itself", Call{Result: limited(suicide, sandbox.KernelView{})}, Signaled, "the program was killed by SIGKILL (signal 9): no limit was hit, so the program did it to itself. Output that it had not flushed is lost; print to stderr, or flush, to see how far it got"},
		{"too many processes on gVisor", Call{Result: limited(suicide, sandbox.KernelView{GVisor: true})}, Signaled, "the program was killed by SIGKILL (signal 9): it started more processes than it may, or did it to itself. Output that it had not flushed is lost; print to stderr, or flush, to see how far it got"},
		{"a sandbox that the program ended", Call{Result: ours(sandbox.OutcomeSignaled, "stopped: the stream broke")}, Signaled, "the program was ended: stopped: the stream broke. Run it again, with less if it ends so again"},
	}
}

func surroundingCases() []noteCase {
	return []noteCase{
		{"a module of Python in the small image", Call{Result: on("sandloop/core:latest", failed("ModuleNotFoundError: No module named 'numpy'\n"))}, ModuleMissing, "numpy is not installed, and nothing can be installed. There is what comes with the language (python) itself, its standard library or built-in modules. If it is a file of your own, it must be in /workspace: pass it in files, or write it before"},
		{"a module of Python in the large image", Call{Result: on("sandloop/full:latest", failed("ModuleNotFoundError: No module named 'sklearn.svm'\n"))}, ModuleMissing, "sklearn.svm is not installed, and nothing can be installed. Python has its standard library, numpy, pandas, scipy, matplotlib and pytest. If it is a file of your own, it must be in /workspace: pass it in files, or write it before"},
		{"a module of Python in an image of somebody's own", Call{Result: on("example/py:3", failed("ModuleNotFoundError: No module named 'numpy'\n"))}, ModuleMissing, "numpy is not installed, and nothing can be installed. help('modules') in Python lists what is installed. If it is a file of your own, it must be in /workspace: pass it in files, or write it before"},
		{"a file of Node's", Call{Result: failed("Error: Cannot find module './lib.js'\n")}, ModuleMissing, "there is no file ./lib.js. A file of your own must be in /workspace: pass it in files, or write it before"},
		{"a header", Call{Result: failed("main.cpp:1:10: fatal error: boost/any.hpp: No such file or directory\n")}, ModuleMissing, "boost/any.hpp is not installed, and nothing can be installed. C and C++ have their standard libraries alone. If it is a file of your own, it must be in /workspace: pass it in files, or write it before"},
		{"a command of a shell", Call{Result: failed("main.sh: line 3: git: command not found\n")}, CommandMissing, "there is no command git, and nothing can be installed. Use another program or a library of a language, such as Python's standard library"},
		{"a command of Node", Call{Result: failed("Error: spawn ffmpeg ENOENT\n")}, CommandMissing, "there is no command ffmpeg, and nothing can be installed. Use another program or a library of a language, such as Python's standard library"},
		{"input that was not given", Call{Result: failed("EOFError: EOF when reading a line\n")}, NoStdin, "the program read past the end of its input. There is nobody to type: pass all that it reads in the argument stdin"},
		{"a path outside of the workspace", Call{Result: failed("OSError: [Errno 30] Read-only file system: '/etc/x'\n")}, ReadOnly, "only /workspace and /tmp can be written, everything else is read-only. Use a path below /workspace"},
		{"bytes that are no text", Call{Result: ok("a\xff\xfeb\x00\n")}, NotText, "3 bytes of the output are not UTF-8 text and are shown as �. Print such data as hex, base64 or repr()"},
		{"nothing printed", Call{Language: "python", Result: ok("")}, PrintedNothing, "the program ran and printed nothing. What it does not print is not seen: use print(...)"},
		{"nothing printed in a live session", Call{Language: "node", Live: true, Result: ok(""), Session: live(workspace.LiveReport{Started: true})}, PrintedNothing, "the code ran and printed nothing. To see a value, end with it as an expression, or use console.log(...)"},
		{"nothing printed by a command", Call{Language: "bash", Argv: []string{"true"}, Result: ok("")}, PrintedNothing, "the command succeeded and printed nothing"},
		{"nothing printed by a failing command", Call{Language: "bash", Argv: []string{"false"}, Result: failed("")}, PrintedNothing, "the command failed and printed nothing"},
		{"nothing printed in a language that is not known any more", Call{Result: ok("")}, PrintedNothing, "the program ran and printed nothing. What it does not print is not seen"},
	}
}

func sessionCases() []noteCase {
	return []noteCase{
		{"our failure", Call{Result: ours(sandbox.OutcomeInfraError, "given up after 4 attempts: no daemon")}, OurFailure, "the sandbox itself failed, not your code: given up after 4 attempts: no daemon. Make the same call once more; if that fails too, say so in your answer"},
		{"canceled while it ran", Call{Result: sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1, Stdout: stream("x\n")}}, Canceled, "canceled: somebody ended the call before it was done. The output is what came until then. Do not repeat it unless you are asked to"},
		{"an unknown language", Call{Language: "cobol", Result: ours(sandbox.OutcomeRejected, `language "cobol" is unknown: want one of bash, python`)}, UnknownLanguage, `nothing was run: language "cobol" is unknown: want one of bash, python. Call again with one of these`},
		{"a limit that is not allowed", Call{Language: "python", Result: ours(sandbox.OutcomeRejected, "limits.wall_seconds: 2h0m0s is not allowed: want 10ms to 15m0s")}, Rejected, "nothing was run, since the call asks for what is not allowed here: limits.wall_seconds: 2h0m0s is not allowed: want 10ms to 15m0s. Change that and call again"},
		{"variables that are gone", Call{Live: true, Result: ok("x\n"), Session: live(workspace.LiveReport{Started: true, Lost: "its worker died"})}, StartedAnew, "the interpreter was started anew for this call: its worker died. Variables, imports and functions of earlier calls are gone, files in /workspace are there. Define again what you need"},
		{"an interpreter that ended", Call{Live: true, Result: ok("x\n"), Session: live(workspace.LiveReport{Ended: "the code called sys.exit(0)"})}, Ended, "the interpreter ended: the code called sys.exit(0). The next call starts a new one, with the files of /workspace and without the variables"},
		{"files above the quota", Call{Result: ok("x\n"), Session: &workspace.Report{Refused: []sandbox.RefusedFile{{Path: ".", Reason: "the session would hold 70 bytes: want at most 64", Limit: true}}}}, NotKept, "files are not kept: all changes (the session would hold 70 bytes: want at most 64). The session has its files as they were before this call. Delete or shrink what is too large and write again"},
		{"node beside an interpreter of python", Call{Language: "node", Live: true, Result: ok("x\n"), Session: &workspace.Report{}}, NotLive, "this ran as a program of its own, since the session's live interpreter is one of another language: its variables do not stay, its files do. With restart the session changes to an interpreter of this language, and loses the variables of the other"},
		{"a link among files that are kept", Call{Result: ok("x\n"), Session: &workspace.Report{Written: []string{"a"}, Refused: []sandbox.RefusedFile{{Path: "l", Reason: "is a link"}}}}, NotKept, "files are not kept: l (is a link). Write regular files only, and smaller ones"},
		{"a file that does not come back", Call{Result: sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: stream("x\n"), RefusedFiles: []sandbox.RefusedFile{{Path: "plot.png", Reason: "is too large"}}}}, NotKept, "files are not kept: plot.png (is too large). Write regular files only, and smaller ones"},
	}
}

func networkCases() (cases []noteCase) {
	for who, text := range map[string]string{
		"python":          "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
		"python by IP":    "OSError: [Errno 101] Network is unreachable",
		"requests":        "Failed to establish a new connection: [Errno -2] Name or service not known",
		"node":            "  [cause]: Error: getaddrinfo EAI_AGAIN example.com",
		"curl":            "curl: (6) Could not resolve host: example.com",
		"git":             "fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com",
		"pip":             "ERROR: Could not find a version that satisfies the requirement requests (from versions: none)",
		"go":              "Get \"https://example.com\": dial tcp: lookup example.com: no such host",
		"java":            "Exception in thread \"main\" java.net.UnknownHostException: example.com",
		"bash's /dev/tcp": "main.sh: connect: Network is unreachable",
	} {
		cases = append(cases, noteCase{who + " without a network", Call{Result: failed(text + "\n")}, NoNetwork, "there is no network in the sandbox, so nothing can be downloaded, installed or called. Work with what is installed and with the data that you have, or make up test data"})
	}
	refused := ok("x\n")
	refused.Network = &sandbox.NetworkUse{Refused: 7, Connections: []sandbox.Connection{
		{Host: "pypi.org", Port: 443, Verdict: sandbox.ConnectionAllowed, Reason: "the job has ended"},
		{Host: "a.org", Port: 443, Verdict: sandbox.ConnectionRefused, Reason: "a.org is not among network.rules[0].domains (pypi.org)"},
		{Host: "a.org", Port: 443, Verdict: sandbox.ConnectionRefused, Reason: "a.org is not among network.rules[0].domains (pypi.org)"},
		{Verdict: sandbox.ConnectionRefused, Reason: "b"},
		{Verdict: sandbox.ConnectionRefused, Reason: "c"},
		{Verdict: sandbox.ConnectionRefused, Reason: "d"},
	}}
	return append(cases, noteCase{"what the proxy refused", Call{Result: refused}, NetworkRefused, "the network refused 7 of its connections: a.org is not among network.rules[0].domains (pypi.org); b; c and for 1 more reasons. Only what is named there can be reached, through the proxy that the environment names: do without the rest"})
}

func allCases() []noteCase {
	cut := ok("0123456789")
	cut.Stdout = sandbox.NewStream([]byte("0123\n"), []byte("89\n"), 1000)
	cases := append(append(append(limitCases(), surroundingCases()...), sessionCases()...), networkCases()...)
	return append(cases, noteCase{"output that the worker did not keep", Call{Result: cut}, OutputCut, "output was cut: 8 of 1000 bytes of stdout are shown, its beginning and its end. The rest was not kept. Print less, or write it to a file in /workspace and look at parts of that"})
}

func TestNotesSayWhatHappenedAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var texts []string
			for _, note := range Describe(c.call, 0).Notes {
				if note.Kind == c.kind {
					texts = append(texts, note.Text)
				}
			}
			require.Equal(t, []string{c.want}, texts)
		})
	}
}

func TestEveryNoteHasACase(t *testing.T) {
	t.Parallel()
	var covered []Kind
	for _, c := range allCases() {
		covered = append(covered, c.kind)
	}
	require.Subset(t, covered, Kinds())
}

func TestWhatNeedsNoNoteHasNone(t *testing.T) {
	t.Parallel()
	withNetwork := limited(failed("Name or service not known\n"), sandbox.KernelView{Interfaces: []string{"eth0"}})
	through := ok("42\n")
	through.Network = &sandbox.NetworkUse{Received: 1, Connections: []sandbox.Connection{{Host: "pypi.org", Verdict: sandbox.ConnectionAllowed}}}
	for name, call := range map[string]Call{
		"a network that was used":                   {Result: through},
		"a program that printed":                    {Language: "python", Result: ok("42\n")},
		"a traceback":                               {Language: "python", Result: failed("ZeroDivisionError: division by zero\n")},
		"a value of a live call":                    {Live: true, Result: ok(""), Session: live(workspace.LiveReport{Value: "2"})},
		"a figure of a live call":                   {Live: true, Result: ok(""), Session: live(workspace.LiveReport{Displays: []workspace.Display{{MIME: "image/png", Path: "figure-1.png"}}})},
		"the first call of a session":               {Live: true, Result: ok("1\n"), Session: live(workspace.LiveReport{Started: true})},
		"a host that is unknown with a network":     {Result: withNetwork},
		"colours and progress bars are still text":  {Result: ok("\x1b[31mred\x1b[0m 10%\r100%\n")},
		"a value that reads like a missing package": {Live: true, Result: ok(""), Session: live(workspace.LiveReport{Value: "\"No module named 'x'\""})},
	} {
		require.Empty(t, Describe(call, 0).Notes, name)
	}
}
