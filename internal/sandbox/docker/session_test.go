package docker

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// fakeInit is the other end of a session; the test writes what it likes.
type fakeInit struct {
	t *testing.T
	*wire.Writer
	conn net.Conn
	in   *wire.Reader
}

// takeJob reads the spec and all input and switches to the job's key.
func (f *fakeInit) takeJob() (wire.Spec, []byte) {
	kind, payload, err := f.in.Read()
	require.NoError(f.t, err)
	require.Equal(f.t, wire.TypeSpec, kind)
	var spec wire.Spec
	require.NoError(f.t, json.Unmarshal(payload, &spec))
	want := spec.StdinSize
	for _, file := range spec.Files {
		want += file.Size
	}
	var input []byte
	for int64(len(input)) < want {
		kind, payload, err := f.in.Read()
		require.NoError(f.t, err)
		require.Equal(f.t, wire.TypeData, kind)
		input = append(input, payload...)
	}
	f.SetKey(spec.Key)
	return spec, input
}

func (f *fakeInit) json(kind wire.Type, message any) {
	require.NoError(f.t, f.WriteJSON(kind, message))
}

func (f *fakeInit) output(kind wire.Type, stream byte, data string) {
	require.NoError(f.t, f.Write(kind, []byte{stream}, []byte(data)))
}

// converse runs a session against script and returns what it received.
func converse(t *testing.T, j job, script func(*fakeInit)) (report, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	release := make(chan struct{})
	close(release)
	s := &session{r: wire.NewReader(ours), w: wire.NewWriter(ours), job: j, release: release, started: func() {}}
	s.r.SetKey(j.spec.Key)
	sent, played := make(chan struct{}), make(chan struct{})
	go func() { defer close(sent); _ = s.send() }()
	go func() {
		defer close(played)
		script(&fakeInit{t: t, Writer: wire.NewWriter(theirs), in: wire.NewReader(theirs), conn: theirs})
		_ = theirs.Close()
	}()
	err := s.receive()
	_ = ours.Close()
	<-sent
	<-played
	return s.report, err
}

func exampleJob() job {
	return job{
		spec: wire.Spec{
			Key: bytes.Repeat([]byte{7}, 32), StdinSize: 5, FilesOut: 2, FileBytes: 200_000,
			Steps: []wire.Step{{Name: "compile", Output: 10}, {Name: "run", Output: 10}},
			Files: []wire.FileHeader{{Path: "a", Size: 100_000}, {Path: "b"}},
		},
		files: []sandbox.File{{Path: "a", Data: bytes.Repeat([]byte("x"), 100_000)}, {Path: "b"}},
		stdin: []byte("stdin"),
	}
}

func TestSessionWholeJob(t *testing.T) {
	t.Parallel()
	j := exampleJob()
	var live []sandbox.Output
	j.onOutput = func(o sandbox.Output) { live = append(live, o) }
	big := strings.Repeat("y", 150_000)
	got, err := converse(t, j, func(f *fakeInit) {
		spec, input := f.takeJob()
		require.Equal(t, j.spec.Files, spec.Files)
		require.Equal(t, strings.Repeat("x", 100_000)+"stdin", string(input))
		f.json(wire.TypeStart, wire.Start{Kernel: sandbox.KernelView{PIDs: 64}})
		f.output(wire.TypeOutput, wire.StreamStderr, "warn")
		f.json(wire.TypeStep, wire.StepReport{Name: "compile", StderrTotal: 4})
		f.output(wire.TypeOutput, wire.StreamStdout, "\xff\x00b")
		f.output(wire.TypeTail, wire.StreamStdout, "end")
		f.json(wire.TypeStep, wire.StepReport{Name: "run", StdoutTotal: 900})
		f.json(wire.TypeFile, wire.FileHeader{Path: "empty", Executable: true})
		f.json(wire.TypeFile, wire.FileHeader{Path: "big", Size: int64(len(big))})
		require.NoError(t, f.Write(wire.TypeData, []byte(big[:100_000])))
		require.NoError(t, f.Write(wire.TypeData, []byte(big[100_000:])))
		f.json(wire.TypeEnd, wire.End{Refused: []sandbox.RefusedFile{{Path: "l", Reason: "is a link"}}})
	})
	require.NoError(t, err)
	require.Equal(t, 64, got.start.Kernel.PIDs)
	require.Len(t, got.steps, 3)
	require.Equal(t, "warn", string(got.steps[0].heads[1]))
	require.Equal(t, "\xff\x00b", string(got.steps[1].heads[0]))
	require.Equal(t, "end", string(got.steps[1].tails[0]))
	require.EqualValues(t, 900, got.steps[1].report.StdoutTotal)
	require.Equal(t, []sandbox.File{{Path: "empty", Data: []byte{}, Executable: true}, {Path: "big", Data: []byte(big)}}, got.files)
	require.Equal(t, "is a link", got.end.Refused[0].Reason)
	require.Equal(t, []sandbox.Output{
		{Step: "compile", Stream: "stderr", Data: []byte("warn")}, {Step: "run", Stream: "stdout", Data: []byte("\xff\x00b")},
	}, live)
}

func TestSessionKeepsWhatCameBeforeTheStreamBroke(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after func(*fakeInit)
		want  error
	}{
		"it just ends":     {func(*fakeInit) {}, io.ErrUnexpectedEOF},
		"a frame is cut":   {func(f *fakeInit) { _, _ = f.conn.Write([]byte{'O', 0, 0, 0, 9, 1, 'x'}) }, wire.ErrForged},
		"wrong key":        {func(f *fakeInit) { f.SetKey([]byte("guess")); _ = f.Write(wire.TypeEnd, []byte("{}")) }, wire.ErrForged},
		"raw bytes":        {func(f *fakeInit) { _, _ = f.conn.Write([]byte("hello, I am init\n")) }, wire.ErrForged},
		"too much output":  {func(f *fakeInit) { f.output(wire.TypeOutput, wire.StreamStdout, "12345678901") }, errProtocol},
		"no such stream":   {func(f *fakeInit) { f.output(wire.TypeOutput, 3, "x") }, errProtocol},
		"empty output":     {func(f *fakeInit) { _ = f.Write(wire.TypeOutput) }, errProtocol},
		"a second start":   {func(f *fakeInit) { f.json(wire.TypeStart, wire.Start{}) }, errProtocol},
		"not JSON":         {func(f *fakeInit) { _ = f.Write(wire.TypeStep, []byte("{")) }, errProtocol},
		"unknown type":     {func(f *fakeInit) { _ = f.Write('?') }, errProtocol},
		"data of no file":  {func(f *fakeInit) { _ = f.Write(wire.TypeData, []byte("x")) }, errProtocol},
		"a file too large": {func(f *fakeInit) { f.json(wire.TypeFile, wire.FileHeader{Path: "x", Size: 200_001}) }, errProtocol},
		"a negative file":  {func(f *fakeInit) { f.json(wire.TypeFile, wire.FileHeader{Path: "x", Size: -1}) }, errProtocol},
		"too many files": {func(f *fakeInit) {
			for range 3 {
				f.json(wire.TypeFile, wire.FileHeader{Path: "x"})
			}
		}, errProtocol},
		"end inside of a file": {func(f *fakeInit) {
			f.json(wire.TypeFile, wire.FileHeader{Path: "x", Size: 5})
			f.json(wire.TypeEnd, wire.End{})
		}, errProtocol},
		"three steps of two": {func(f *fakeInit) {
			for _, name := range []string{"compile", "run", "run"} {
				f.json(wire.TypeStep, wire.StepReport{Name: name})
			}
		}, errProtocol},
		"the report of another step": {func(f *fakeInit) { f.json(wire.TypeStep, wire.StepReport{Name: "run"}) }, errProtocol},
		"two files that are more than a number holds": {func(f *fakeInit) {
			f.json(wire.TypeFile, wire.FileHeader{Path: "x", Size: 1})
			_ = f.Write(wire.TypeData, []byte("x"))
			f.json(wire.TypeFile, wire.FileHeader{Path: "y", Size: math.MaxInt64})
		}, errProtocol},
		"a file outside of the workspace": {func(f *fakeInit) { f.json(wire.TypeFile, wire.FileHeader{Path: "../x"}) }, errProtocol},
		"a file with a long path":         {func(f *fakeInit) { f.json(wire.TypeFile, wire.FileHeader{Path: strings.Repeat("x", 1025)}) }, errProtocol},
		"a file without a name":           {func(f *fakeInit) { f.json(wire.TypeFile, wire.FileHeader{Path: "."}) }, errProtocol},
		"many files that are refused":     {func(f *fakeInit) { f.json(wire.TypeEnd, wire.End{Refused: make([]sandbox.RefusedFile, 102)}) }, errProtocol},
		"a long reason": {func(f *fakeInit) {
			f.json(wire.TypeStep, wire.StepReport{Name: "compile", Refused: []sandbox.RefusedFile{{Reason: strings.Repeat("r", 9000)}}})
		}, errProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := converse(t, exampleJob(), func(f *fakeInit) {
				f.takeJob()
				f.json(wire.TypeStart, wire.Start{})
				f.output(wire.TypeOutput, wire.StreamStdout, "kept")
				tt.after(f)
			})
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, "kept", string(got.steps[0].heads[0]))
			require.Nil(t, got.end)
		})
	}
}

func TestSessionFaultBeforeItReadTheInput(t *testing.T) {
	t.Parallel()
	got, err := converse(t, exampleJob(), func(f *fakeInit) {
		kind, _, err := f.in.Read()
		require.NoError(t, err)
		require.Equal(t, wire.TypeSpec, kind)
		f.SetKey(bytes.Repeat([]byte{7}, 32))
		f.json(wire.TypeFault, wire.Fault{Message: "memory limit is 5"})
	})
	require.NoError(t, err)
	require.Equal(t, "memory limit is 5", got.fault)
	require.Nil(t, got.start)
}

func TestSessionOutputBeforeStartIsNotBelieved(t *testing.T) {
	t.Parallel()
	got, err := converse(t, exampleJob(), func(f *fakeInit) {
		f.takeJob()
		f.output(wire.TypeOutput, wire.StreamStdout, "x")
	})
	require.ErrorIs(t, err, errProtocol)
	require.Nil(t, got.start)
}
