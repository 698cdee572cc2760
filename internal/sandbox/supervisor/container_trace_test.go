package supervisor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// A process that asks to be traced by its parent makes process 1 its tracer, whose wait then
// tells of stops too.
const traceMe = `
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(0, 0, 0, 0), flush=True) # PTRACE_TRACEME
`

func TestProgramTracedByProcess1IsStillWaitedFor(t *testing.T) {
	t.Parallel()
	j := python(traceMe + "os.kill(os.getpid(), signal.SIGSTOP)\nos._exit(0)")
	j.step().WallTime = sandbox.Seconds(testenv.Scale(t, 2*time.Second)) // so long that the program gets to its end
	r := endedInTime(t, j)
	require.Equal(t, "0\n", string(r.stdout))
	require.Equal(t, wire.CauseWall, r.last().Cause)
	require.Equal(t, -1, r.last().ExitCode)

	r = run(t, python(traceMe+"os._exit(7)"))
	require.Empty(t, r.last().Cause)
	require.Equal(t, 7, r.last().ExitCode)
}

func TestOutputInFlightDoesNotHoldTheStep(t *testing.T) {
	t.Parallel()
	// Sockets that are sent over each other hold the output open after the last process is gone.
	r := endedInTime(t, python(`
import socket
a, b = socket.socketpair()
c, d = socket.socketpair()
socket.send_fds(a, [b"x"], [1, 2, a.fileno(), b.fileno()])
socket.send_fds(a, [b"x"], [c.fileno(), d.fileno()])
socket.send_fds(c, [b"x"], [1, a.fileno(), b.fileno()])
print("sent")
`))
	require.Equal(t, "sent\n", string(r.stdout))
	require.Zero(t, r.last().ExitCode)
}
