package supervisor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// again makes a job one after which another may come.
func again(j job) job {
	j.Reuse = true
	return j
}

// next runs a job that is not the last in the sandbox and returns what comes after its End.
func (b *box) next(t *testing.T, j job) (report, wire.Type, wire.Fault) {
	t.Helper()
	b.submit(t, again(j))
	r := b.receive(t, nil)
	require.Empty(t, r.fault)
	kind, payload, err := b.frames.Read()
	require.NoError(t, err)
	var fault wire.Fault
	if kind == wire.TypeFault {
		decode(t, payload, &fault)
	}
	return r, kind, fault
}

func TestSandboxTakesAnotherJobOnceItIsClean(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	compiled := command("sh", "-c", "cat given made; ls; echo left >/tmp/left; sleep 600 & echo $HOME $MORE").withFile("given", []byte("given\n"), false)
	compile := *compiled.step()
	compile.Name, compile.Argv, compile.Env = "compile", []string{"sh", "-c", "echo made >made"}, []string{"MORE=more"}
	compiled.Steps = append([]wire.Step{compile}, compiled.Steps...)
	r, kind, _ := b.next(t, compiled)
	require.Equal(t, "given\nmade\ngiven\nmade\n/tmp\n", string(r.stdout))
	require.Equal(t, wire.TypeClean, kind)
	start := r.start

	failing := command("sh", "-c", "ls -A /tmp /workspace; cat; exit 9")
	failing.stdin = []byte("stdin\n")
	r, kind, _ = b.next(t, failing)
	require.Equal(t, "/tmp:\n\n/workspace:\nstdin\n", string(r.stdout))
	require.Equal(t, 9, r.last().ExitCode)
	require.Equal(t, start, r.start, "the same limits are in force")
	require.Less(t, r.last().PeakMemory, int64(20<<20))
	require.Equal(t, wire.TypeClean, kind)

	last := command("sh", "-c", "ls /tmp; cat")
	b.submit(t, last)
	require.Empty(t, b.receive(t, nil).stdout)
	b.requireGone(t, 10*time.Second)
}

func TestSandboxThatIsNotAsItWasTakesNoOtherJob(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ code, reason string }{
		"kill for memory": {"import os\nif os.fork() == 0: x = bytearray(1 << 30)\nos.wait()", "unclean: the kernel killed 1 processes for the memory limit and refused 0"},
		"refused process": {`
import os
try:
    while True:
        if os.fork() == 0:
            while True: pass
except OSError: pass
`, "unclean: the kernel killed 0 processes for the memory limit and refused 1"},
		"connection": {"import socket as s\nl = s.create_server(('127.0.0.1', 9900))\nc = s.create_connection(('127.0.0.1', 9900))\n" +
			"o = l.accept()[0]\nc.close()\no.recv(1)", "unclean: is left: connection: TCP: inuse 0 orphan 0 tw 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			r, kind, fault := b.next(t, python(test.code))
			require.Zero(t, r.last().ExitCode, "%s", r.stderr)
			require.Equal(t, wire.TypeFault, kind)
			require.True(t, fault.Unclean)
			require.Contains(t, fault.Message, test.reason)
			b.requireGone(t, 10*time.Second)
		})
	}
}

func TestCleanSandboxEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	_, kind, _ := b.next(t, command("true"))
	require.Equal(t, wire.TypeClean, kind)
	require.NoError(t, b.stdin.Close())
	b.requireGone(t, 10*time.Second)
}

func TestNextJobMustExpectTheSameLimits(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	_, kind, _ := b.next(t, command("true"))
	require.Equal(t, wire.TypeClean, kind)
	other := command("true")
	other.Expect.MemoryBytes = 128 * sandbox.MiB
	b.submit(t, other)
	r := b.receive(t, nil)
	require.Contains(t, r.fault, "memory_bytes: asked for 134217728, the kernel says 268435456")
	require.Empty(t, r.steps)
	b.requireGone(t, 10*time.Second)
}

func TestCancelThatComesAfterTheEndConcernsNoOtherJob(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	_, kind, _ := b.next(t, command("true"))
	require.Equal(t, wire.TypeClean, kind)
	b.cancel(t)
	r, kind, _ := b.next(t, command("sh", "-c", "sleep 0.1; echo whole"))
	require.Equal(t, "whole\n", string(r.stdout))
	require.Empty(t, r.last().Cause)
	require.Equal(t, wire.TypeClean, kind)
}
