package docker

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

//go:embed testdata/traces.py
var traces []byte

// tracesProgram is testdata/traces.py with arguments, as one of a batch.
func tracesProgram(args ...string) sandbox.Program {
	p := sandbox.Program{Language: "python", Main: "traces.py", Source: traces, Args: args}
	p.Limits.CPUs, p.Limits.Memory, p.Limits.OpenFiles = ptr(1.0), ptr(512*sandbox.MiB), ptr(int64(1024))
	return of("traces", p)
}

// dockersProfile lets programs leave what the built-in one refuses to begin with.
func dockersProfile(o *Options) { o.Seccomp = "" }

// seen runs testdata/traces.py, in the container that was used before if it is not the first time, and
// returns what it prints. It waits as long as the cleaning may take.
func (b *bundle) seen(t *testing.T, args ...string) string {
	t.Helper()
	if b.Stats().ColdStarts > 0 {
		b.awaitKept(t)
	}
	got := b.run(t, tracesProgram(args...))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s: %s %s", args, got.Message, got.Stderr.Data)
	require.Empty(t, string(got.Stderr.Data))
	return string(got.Stdout.Data)
}

func TestNothingThatAProgramLeavesIsSeenByTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing, dockersProfile)
	first := b.seen(t, "look")
	require.Contains(t, first, "  sandbox-init\n")
	require.Equal(t, first, b.seen(t, "look"), "two looks see the same")
	for _, what := range []string{
		"files", "closed_directories", "deep_directories", "home", "deleted_file", "several_daemons", "stopped_daemon", "traced_daemon",
		"forking_daemon", "zombies", "terminal", "sysv", "message_queue", "posix_semaphore", "abstract_socket", "listeners", "in_flight",
		"locks", "own_state",
	} {
		b.seen(t, "leave", what)
		require.Equal(t, first, b.seen(t, "look"), what)
		require.NotEqual(t, first, b.seen(t, "control", what), "%s: it would be seen if it were there", what)
		require.Equal(t, first, b.seen(t, "look"), what)
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts, "all in one container")
}

// refusal is a line of an attempt that the kernel refused.
var refusal = regexp.MustCompile(`^\('[^']+', '(EPERM|EACCES|EROFS|ENOSYS|EINVAL|ENOENT|ESRCH)'\)$`)

func TestNoProgramChangesWhatTheNextInherits(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing, dockersProfile)
	first := b.seen(t, "look")
	attempts := strings.Split(strings.TrimSpace(b.seen(t, "leave", "process_1")), "\n")
	require.Greater(t, len(attempts), 70)
	for _, line := range attempts {
		require.Regexp(t, refusal, line)
	}
	require.Equal(t, first, b.seen(t, "look"))
	b.seen(t, "leave", "signals")
	require.Equal(t, first, b.seen(t, "look"))
	require.EqualValues(t, 1, b.Stats().ColdStarts, "all in one container")
}

func TestWhatCannotBeCleanedAwayRetiresTheContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing, dockersProfile)
	for _, tt := range []struct{ what, code string }{
		{"nothing", "pass"},
		{"a connection in TIME-WAIT", "import socket as s; l = s.create_server(('127.0.0.1', 9900)); " +
			"c = s.create_connection(('127.0.0.1', 9900)); o = l.accept()[0]; c.close(); o.recv(1)"},
	} {
		got := b.run(t, of("a", python(tt.code)))
		require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s: %s", tt.what, got.Stderr.Data)
		require.Equal(t, tt.what == "nothing", b.run(t, of("a", python("print(1)"))).Enforcement.Reused, tt.what)
	}
	require.Zero(t, b.Stats().Stale, "it was not even offered")
}
