package docker

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// converseTests runs a session with one test "in" again and again against script.
func converseTests(t *testing.T, expires time.Time, script func(*fakeInit)) (*series, report, []time.Duration, error) {
	t.Helper()
	return converseTest(t, sandbox.Test{
		ID: "in", Stdin: bytes.Repeat([]byte("i"), 100_000), WallTime: wall(time.Second),
		Files: []sandbox.File{{Path: "a/"}, {Path: "a/b", Data: []byte("file")}}, Outputs: []string{"*"},
	}, expires, script)
}

// converseTest runs a session with one test again and again against script.
func converseTest(t *testing.T, test sandbox.Test, expires time.Time, script func(*fakeInit)) (*series, report, []time.Duration, error) {
	t.Helper()
	prepared := sandbox.Prepared{
		Limits: sandbox.DefaultLimits(), Plan: sandbox.Plan{Compile: []string{"cc"}, Run: []string{"./out"}},
	}
	tests := &series{next: func(*sandbox.TestResult) (sandbox.Test, bool) { return test, true }}
	tests.begin(sandbox.Program{}, prepared, sandbox.DefaultMaxima())
	j := job{spec: wire.Spec{Key: bytes.Repeat([]byte{7}, 32), Steps: steps(prepared), FilesOut: 1, FileBytes: 2}}
	j.forTests(tests)
	ours, theirs := net.Pipe()
	release := make(chan struct{})
	close(release)
	var expected []time.Duration
	s := &session{
		r: wire.NewReader(ours), w: wire.NewWriter(ours), job: j, release: release, started: func() {}, expires: expires,
		tests: make(chan *testCase, 1), expect: func(d time.Duration) { expected = append(expected, d) },
	}
	s.r.SetKey(j.spec.Key)
	sent, played, told := make(chan struct{}), make(chan struct{}), make(chan wire.Spec, 1)
	go func() { defer close(sent); _ = s.send() }()
	go func() {
		defer close(played)
		f := &fakeInit{t: t, Writer: wire.NewWriter(theirs), in: wire.NewReader(theirs), conn: theirs}
		spec, _ := f.takeJob()
		told <- spec
		f.json(wire.TypeStart, wire.Start{})
		f.json(wire.TypeStep, wire.StepReport{Name: "compile"})
		script(f)
		_ = theirs.Close()
	}()
	err := s.receive()
	_ = ours.Close()
	<-sent
	<-played
	spec := <-told
	require.True(t, spec.Tests)
	require.Equal(t, j.spec.Steps, spec.Steps, "only the compile step")
	return tests, s.report, expected, err
}

// takeTest reads a test with its stdin, or the end of them.
func (f *fakeInit) takeTest() *wire.Test {
	kind, payload, err := f.in.Read()
	require.NoError(f.t, err)
	if kind == wire.TypeFinish {
		return nil
	}
	require.Equal(f.t, wire.TypeTest, kind)
	var test wire.Test
	require.NoError(f.t, json.Unmarshal(payload, &test))
	size := test.StdinSize
	for _, file := range test.Files {
		size += file.Size
	}
	for ; size > 0; size -= int64(len(payload)) {
		kind, payload, err = f.in.Read()
		require.NoError(f.t, err)
		require.Equal(f.t, wire.TypeData, kind)
	}
	return &test
}

func TestSessionOfTests(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Second) // less than a test may need
	tests, got, expected, err := converseTests(t, soon, func(f *fakeInit) {
		test := f.takeTest()
		require.EqualValues(t, 100_000, test.StdinSize)
		require.Equal(t, sandbox.Seconds(time.Second), test.Step.WallTime)
		require.Equal(t, []string{"./out"}, test.Step.Argv)
		require.Equal(t, []wire.FileHeader{{Path: "a/"}, {Path: "a/b", Size: 4}}, test.Files)
		require.Equal(t, []string{"*"}, test.Outputs)
		f.output(wire.TypeOutput, wire.StreamStdout, "out")
		f.json(wire.TypeFile, wire.FileHeader{Path: "c", Size: 2})
		require.NoError(t, f.Write(wire.TypeData, []byte("cc")))
		f.json(wire.TypeStep, wire.StepReport{Name: "run", StdoutTotal: 3, ExitCode: 4, Refused: []sandbox.RefusedFile{{Path: "d"}}})
		require.Nil(t, f.takeTest(), "the container has no time for a second one")
		f.json(wire.TypeEnd, wire.End{})
	})
	require.NoError(t, err)
	require.Len(t, got.steps, 2, "what is past does not pile up")
	require.Equal(t, "out", string(tests.previous.Stdout.Data))
	require.Equal(t, 4, tests.previous.ExitCode)
	require.Equal(t, []sandbox.File{{Path: "c", Data: []byte("cc")}}, tests.previous.Files)
	require.Equal(t, []sandbox.RefusedFile{{Path: "d"}}, tests.previous.RefusedFiles)
	require.Empty(t, got.files, "they are not the program's")
	require.True(t, tests.spent)
	require.Equal(t, "in", tests.pending.id, "it is for the next container")
	require.Equal(t, []time.Duration{0, 16 * time.Second, 0, 15 * time.Second}, expected)
	result := resultOf(got, sandbox.DefaultLimits())
	require.False(t, tests.conclude(&result))
}

func TestSessionOfTestsBelievesNothingBetweenThem(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*fakeInit){
		"a second report": func(f *fakeInit) {
			f.json(wire.TypeStep, wire.StepReport{Name: "run"})
			require.Nil(t, f.takeTest())
			f.json(wire.TypeStep, wire.StepReport{Name: "run"})
		},
		"output of no test": func(f *fakeInit) {
			f.json(wire.TypeStep, wire.StepReport{Name: "run"})
			require.Nil(t, f.takeTest())
			f.output(wire.TypeOutput, wire.StreamStdout, "x")
		},
		"too much output": func(f *fakeInit) { f.output(wire.TypeTail, wire.StreamStderr, strings.Repeat("x", 64<<10+1)) },
	} {
		_, _, _, err := converseTests(t, time.Time{}, func(f *fakeInit) {
			f.takeTest()
			after(f)
		})
		require.ErrorIs(t, err, errProtocol, name)
	}
}

func TestFaultsOfTests(t *testing.T) {
	t.Parallel()
	unclean := func(ran int, compiled *wire.StepReport) (sandbox.Result, error) {
		x := exampleTask()
		x.job.tests = &series{ran: ran, running: true, pending: &testCase{}}
		steps := []stepOutput{{name: "run"}}
		if compiled != nil {
			steps = []stepOutput{{name: "compile", report: compiled}, {name: "run"}}
		}
		return x.faulted(t.Context(), report{start: &wire.Start{}, steps: steps, fault: "unclean: a socket", unclean: true})
	}
	_, err := unclean(1, nil)
	require.ErrorIs(t, err, errUnclean, "a test left it: the next has another container")

	_, err = unclean(0, nil)
	require.ErrorContains(t, err, "unclean: a socket", "no user code has run, so it is our trouble")
	require.NotErrorIs(t, err, errUnclean)

	got, err := unclean(0, &wire.StepReport{Name: "compile"})
	require.NoError(t, err, "the compile step left it, and would again")
	require.Equal(t, sandbox.OutcomeCompileError, got.Outcome)
}

func TestTestThatDestroysItsSandbox(t *testing.T) {
	t.Parallel()
	lost := sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory, ExitCode: 137, Compile: &sandbox.Step{}}
	more := true
	tests := &series{next: func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		require.Equal(t, "destroyer", previous.ID)
		require.Equal(t, sandbox.OutcomeOutOfMemory, previous.Outcome)
		return sandbox.Test{ID: "next"}, more
	}}
	destroyer := &testCase{id: "destroyer"}
	tests.begin(sandbox.Program{}, sandbox.Prepared{Limits: sandbox.DefaultLimits()}, sandbox.DefaultMaxima())
	tests.pending, tests.running = destroyer, true
	result := lost
	require.False(t, tests.conclude(&result), "the next test needs a container")
	require.Equal(t, "next", tests.pending.id)

	tests.pending, tests.running, more = destroyer, true, false
	result = lost
	require.True(t, tests.conclude(&result))
	require.Equal(t, sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Compile: &sandbox.Step{}}, result)
}
