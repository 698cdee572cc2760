package supervisor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestNothingOfAStepIsLeftWhenTheNextBegins(t *testing.T) {
	t.Parallel()
	j := command("sh", "-c", `rm -f alive; sleep 0.2; ls; ls -d /proc/[0-9]*`)
	// The daemon holds no output open, has a session of its own and ignores what it can.
	leave := *j.step()
	leave.Name = "compile"
	leave.Argv = []string{"python3", "-c", `
import os, signal, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    os.closerange(0, 3)
    os.write(write, b"x")
    while True:
        open("/workspace/alive", "a").write("x")
        time.sleep(0.001)
os.read(read, 1)
`}
	j.Steps = append(j.Steps[:0:0], leave, *j.step())
	b := newBoxWith(t, []string{"--deadline", testenv.Scale(t, 20*time.Second).String()}) // so that a wait for ever fails
	b.submit(t, j)
	r := b.receive(t, nil)
	require.Len(t, r.steps, 2)
	require.Regexp(t, `^/proc/1\n/proc/\d+\n$`, string(r.stdout), "process 1, and ls in place of the shell")
}
