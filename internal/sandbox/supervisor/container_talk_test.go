package supervisor_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// startTests submits a job of tests alone.
func startTests(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	j := command("true")
	j.Steps, j.Tests = nil, true
	b.submit(t, j)
	b.expect(t, wire.TypeStart)
	return b
}

// expect reads a frame that must be of the type, and returns its payload.
func (b *box) expect(t *testing.T, want wire.Type) []byte {
	t.Helper()
	kind, payload, err := b.frames.Read()
	require.NoError(t, err, "docker says: %s", &b.stderr)
	require.Equal(t, string(want), string(kind), "%s", payload)
	return payload
}

// talk starts a test that talks and waits until it has begun.
func (b *box) talk(t *testing.T, argv ...string) {
	t.Helper()
	step := *command(argv...).step()
	step.WallTime = sandbox.Seconds(testenv.Scale(t, generous.Duration()))
	step.CPUTime = step.WallTime
	require.NoError(t, b.out.WriteJSON(wire.TypeTest, wire.Test{Step: step, Talk: true}))
	require.Equal(t, uint32(wire.InputWindow), binary.BigEndian.Uint32(b.expect(t, wire.TypeCredit)))
}

func (b *box) input(t *testing.T, data string) {
	t.Helper()
	require.NoError(t, b.out.Write(wire.TypeInput, []byte(data)))
}

// report reads the StepReport, the frame that is next.
func (b *box) report(t *testing.T) (report wire.StepReport) {
	t.Helper()
	decode(t, b.expect(t, wire.TypeStep), &report)
	return report
}

func TestTalkFrameByFrame(t *testing.T) {
	t.Parallel()
	b := startTests(t)
	b.talk(t, "sh", "-c", `read a; echo "got $a"; read b; echo "got $b"; exec >&-; cat >&2; exit 3`)
	b.input(t, "one\ntw")
	require.Equal(t, "\x01got one\n", string(b.expect(t, wire.TypeOutput)), "before the rest of the second line")
	b.input(t, "o\n")
	require.Equal(t, "\x01got two\n", string(b.expect(t, wire.TypeOutput)))
	require.Equal(t, "\x01", string(b.expect(t, wire.TypeOutputEnd)), "while it goes on")
	b.input(t, "three")
	require.NoError(t, b.out.Write(wire.TypeInputEnd))
	require.Equal(t, "\x02three", string(b.expect(t, wire.TypeOutput)))
	report := b.report(t)
	require.Equal(t, 3, report.ExitCode)
	require.EqualValues(t, 16, report.StdoutTotal)

	// What was on its way when the test ended belongs to no test.
	b.input(t, "late\n")
	require.NoError(t, b.out.Write(wire.TypeInputEnd))
	b.talk(t, "sh", "-c", `read a; echo "got $a"`)
	b.input(t, "mine\n")
	require.Equal(t, "\x01got mine\n", string(b.expect(t, wire.TypeOutput)))
	b.expect(t, wire.TypeOutputEnd)
	require.Zero(t, b.report(t).ExitCode)

	require.NoError(t, b.out.Write(wire.TypeFinish))
	b.expect(t, wire.TypeEnd)
	b.requireGone(t, 10*time.Second)
}

func TestInputOfATestThatDoesNotTalkIsDropped(t *testing.T) {
	t.Parallel()
	b := startTests(t)
	b.input(t, "nobody's")
	require.NoError(t, b.out.WriteJSON(wire.TypeTest, wire.Test{Step: *command("cat").step(), StdinSize: 3}))
	require.NoError(t, b.out.Write(wire.TypeData, []byte("own")))
	require.Equal(t, "\x01own", string(b.expect(t, wire.TypeOutput)))
	require.Zero(t, b.report(t).ExitCode)
	require.NoError(t, b.out.Write(wire.TypeFinish))
	b.expect(t, wire.TypeEnd)
}

func TestProgramCannotWidenItsOwnPipes(t *testing.T) {
	t.Parallel()
	b := startTests(t)
	// It writes into its own input, makes both pipes as large as it may and reads what is in its output.
	b.talk(t, "python3", "-c", `
import fcntl, os
for fd in 0, 1:
    try: fcntl.fcntl(fd, 1031, 1 << 20) # F_SETPIPE_SZ
    except OSError: pass
own = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
while True:
    try: os.write(own, bytes(65536))
    except BlockingIOError: break
os.close(0)
os.write(1, b"end")
`)
	for range 4 {
		b.input(t, string(make([]byte, wire.InputWindow/4)))
	}
	out := ""
	for {
		kind, payload, err := b.frames.Read()
		require.NoError(t, err)
		if kind == wire.TypeOutput {
			out += string(payload[1:])
		}
		if kind == wire.TypeStep {
			break
		}
	}
	require.Equal(t, "end", out)
	b.talk(t, "cat")
	b.input(t, "clean")
	require.NoError(t, b.out.Write(wire.TypeInputEnd))
	require.Equal(t, "\x01clean", string(b.expect(t, wire.TypeOutput)))
}

func TestMoreInputThanThereIsCreditForEndsTheSandbox(t *testing.T) {
	t.Parallel()
	b := startTests(t)
	b.talk(t, "sleep", "600")
	b.input(t, string(make([]byte, wire.InputWindow)))
	b.input(t, "x")
	b.requireGone(t, 10*time.Second)
	require.Equal(t, 3, exitCode(b.cmd.Wait()))
}
