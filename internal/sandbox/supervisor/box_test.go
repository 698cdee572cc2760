package supervisor_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// box is a real container with sandbox-init as process 1, under the flags that docker
// runs get by default.
type box struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	out    *wire.Writer
	frames *wire.Reader
	ready  wire.Ready
}

var boxes atomic.Int64

const pidsLimit = 64

// newBox starts a container and waits for Ready. More flags win over the usual ones.
func newBox(t *testing.T, flags ...string) *box {
	t.Helper()
	return newBoxWith(t, []string{"--deadline", "5m"}, flags...)
}

func newBoxWith(t *testing.T, initArgs []string, flags ...string) *box {
	t.Helper()
	testenv.Except(t, "runsc", notOnGVisor)
	image, initPath := testenv.Image(t), testenv.InitPath(t)
	b := &box{name: fmt.Sprintf("sandloop-supervisor-test-%d-%d", time.Now().UnixNano(), boxes.Add(1))}
	args := append([]string{
		"run", "-i", "--rm", "--name", b.name, "--network", "none", "--read-only",
		"--tmpfs", "/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777",
		"--tmpfs", "/workspace:rw,exec,nosuid,nodev,size=134217728,mode=1777",
		"--memory", "256m", "--memory-swap", "256m", "--cpus", "0.5", "--pids-limit", fmt.Sprint(pidsLimit + wire.HeadroomPIDs),
		"--user", "65534:65534", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--ulimit", "core=0", "--ulimit", "nofile=1024:1024", "-w", "/workspace", "--log-driver", "none",
		"-v", initPath + ":/sandbox-init:ro", "--entrypoint", "/sandbox-init",
	}, append(runtimeFlags(), flags...)...)
	b.cmd = exec.Command("docker", append(append(args, image), initArgs...)...) //nolint:noctx // ended in Cleanup
	b.cmd.Stderr = &b.stderr
	var err error
	b.stdin, err = b.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := b.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.cmd.Start())
	t.Cleanup(func() {
		_ = b.stdin.Close()
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		_ = exec.CommandContext(ctx, "docker", "rm", "-f", b.name).Run()
		_ = b.cmd.Wait()
	})
	b.out, b.frames = wire.NewWriter(b.stdin), wire.NewReader(stdout)
	kind, payload, err := b.frames.Read()
	require.NoError(t, err, "first frame; docker says: %s", &b.stderr)
	require.Equal(t, wire.TypeReady, kind, "%s", payload)
	decode(t, payload, &b.ready)
	return b
}

// runtimeFlags are those of a container on another runtime than the daemon's default.
func runtimeFlags() []string {
	switch name := testenv.Runtime(); name {
	case "":
		return nil
	case "runsc": // one process takes two threads of the host's, and gVisor itself takes some
		return []string{"--runtime", name, "--pids-limit", fmt.Sprint(2*(pidsLimit+wire.HeadroomPIDs) + 32)}
	default:
		return []string{"--runtime", name}
	}
}

// job is a spec and the bytes that follow it.
type job struct {
	wire.Spec
	data  [][]byte
	stdin []byte
}

// generous is a time limit that no test means to reach. Submitting stretches it where the
// processor is emulated, and knows it by its value, which no other limit has.
const generous = sandbox.Seconds(time.Minute + time.Millisecond)

// python is a job whose only step runs a program under generous limits.
func python(source string) job { return command("python3", "-c", source) }

func command(argv ...string) job {
	return job{Spec: wire.Spec{
		Steps: []wire.Step{{
			Name: "run", Argv: argv, Stdin: true, Output: 64 * sandbox.KiB,
			WallTime: generous, CPUTime: generous,
		}},
		FilesOut: 100, FileBytes: 16 * sandbox.MiB,
		Expect: wire.Expect{
			MemoryBytes: 256 * sandbox.MiB, CPUs: 0.5, PIDs: pidsLimit, TmpBytes: 64 * sandbox.MiB,
			WorkspaceBytes: 128 * sandbox.MiB, OpenFiles: 1024,
		},
	}}
}

func (j job) withFile(path string, data []byte, executable bool) job {
	j.Files = append(j.Files, wire.FileHeader{Path: path, Size: int64(len(data)), Executable: executable})
	j.data = append(j.data, data)
	return j
}

func (j job) step() *wire.Step { return &j.Steps[len(j.Steps)-1] }

// submit sends a job.
func (b *box) submit(t *testing.T, j job) {
	t.Helper()
	j.Key = make([]byte, 32)
	_, err := rand.Read(j.Key)
	require.NoError(t, err)
	j.StdinSize = int64(len(j.stdin))
	for i := range j.Steps {
		for _, limit := range []*sandbox.Seconds{&j.Steps[i].WallTime, &j.Steps[i].CPUTime} {
			if *limit == generous {
				*limit = sandbox.Seconds(testenv.Scale(t, generous.Duration()))
			}
		}
	}
	require.NoError(t, b.out.WriteJSON(wire.TypeSpec, j.Spec))
	for _, data := range append(j.data, j.stdin) {
		for len(data) > 0 {
			n := min(len(data), wire.ChunkSize)
			require.NoError(t, b.out.Write(wire.TypeData, data[:n]))
			data = data[n:]
		}
	}
	b.frames.SetKey(j.Key)
}

// report is all that came back.
type report struct {
	start   wire.Start
	steps   []wire.StepReport
	stdout  []byte // live head and then tail
	stderr  []byte
	headOut int // how much of stdout came live
	files   map[string][]byte
	headers map[string]wire.FileHeader
	refused map[string]string
	fault   string
}

func (r report) last() wire.StepReport { return r.steps[len(r.steps)-1] }

// receive reads until End or Fault. onFrame, if not nil, sees every frame first.
func (b *box) receive(t *testing.T, onFrame func(wire.Type, []byte)) report {
	t.Helper()
	r := report{files: map[string][]byte{}, headers: map[string]wire.FileHeader{}, refused: map[string]string{}}
	current := ""
	for {
		kind, payload, err := b.frames.Read()
		require.NoError(t, err, "after %d steps; docker says: %s", len(r.steps), &b.stderr)
		if onFrame != nil {
			onFrame(kind, payload)
		}
		switch kind {
		case wire.TypeStart:
			decode(t, payload, &r.start)
		case wire.TypeOutput, wire.TypeTail:
			r.output(kind, payload)
		case wire.TypeStep:
			var step wire.StepReport
			decode(t, payload, &step)
			r.steps = append(r.steps, step)
		case wire.TypeFile:
			var header wire.FileHeader
			decode(t, payload, &header)
			current = header.Path
			r.files[current], r.headers[current] = []byte{}, header
		case wire.TypeData:
			r.files[current] = append(r.files[current], payload...)
		case wire.TypeEnd:
			var end wire.End
			decode(t, payload, &end)
			for _, refused := range end.Refused {
				r.refused[refused.Path] = refused.Reason
			}
			return r
		case wire.TypeFault:
			var fault wire.Fault
			decode(t, payload, &fault)
			r.fault = fault.Message
			return r
		default:
			require.Fail(t, "unknown frame", "%c", kind)
		}
	}
}

func (r *report) output(kind wire.Type, payload []byte) {
	if payload[0] == wire.StreamStdout {
		r.stdout = append(r.stdout, payload[1:]...)
		if kind == wire.TypeOutput {
			r.headOut += len(payload) - 1
		}
		return
	}
	r.stderr = append(r.stderr, payload[1:]...)
}

// run is one job in one new container, to its end.
func run(t *testing.T, j job, flags ...string) report {
	t.Helper()
	b := newBox(t, flags...)
	b.submit(t, j)
	r := b.receive(t, nil)
	b.requireGone(t, 10*time.Second)
	return r
}

// requireGone waits until the container has ended by itself.
func (b *box) requireGone(t *testing.T, within time.Duration) {
	t.Helper()
	within = testenv.Scale(t, within)
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, rest{b.frames}); close(ended) }()
	select {
	case <-ended:
	case <-time.After(within):
		require.Fail(t, "container is still there")
	}
	require.Eventually(t, func() bool {
		out, err := exec.Command("docker", "ps", "-aq", "--filter", "name="+b.name).Output() //nolint:noctx // docker bounds itself
		return err == nil && strings.TrimSpace(string(out)) == ""
	}, within, 50*time.Millisecond, "container %s is still listed", b.name)
}

// rest reads frames until the stream ends.
type rest struct{ frames *wire.Reader }

func (r rest) Read([]byte) (int, error) {
	if _, _, err := r.frames.Read(); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, err
	}
	return 0, nil
}

// cancel asks to end the job.
func (b *box) cancel(t *testing.T) {
	t.Helper()
	require.NoError(t, b.out.Write(wire.TypeCancel))
}

// exitCode is that of a docker run, which is the container's.
func exitCode(err error) int {
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return exited.ExitCode()
	}
	return 0
}
