package docker

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func credit(bytes uint32) []byte { return binary.BigEndian.AppendUint32(nil, bytes) }

// expectFrame reads a frame that must be of the type.
func expectFrame(t *testing.T, r *wire.Reader, want wire.Type) string {
	t.Helper()
	kind, payload, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, string(want), string(kind))
	return string(payload)
}

func TestTalkSendsWhatItHasCreditFor(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	w, r := wire.NewWriter(ours), wire.NewReader(theirs)
	out := newPipe()
	x := newTalk(&sandbox.Talk{Input: strings.NewReader("0123456789abcde"), Output: out})
	require.NoError(t, x.grant(w, credit(10)))
	require.Equal(t, "0123456789", expectFrame(t, r, wire.TypeInput))
	require.NoError(t, x.grant(w, credit(3)))
	require.Equal(t, "abc", expectFrame(t, r, wire.TypeInput))
	require.NoError(t, x.grant(w, credit(100)))
	require.Equal(t, "de", expectFrame(t, r, wire.TypeInput))
	require.Empty(t, expectFrame(t, r, wire.TypeInputEnd))
	x.end()
	_, err := io.ReadAll(out)
	require.NoError(t, err, "it is closed")
}

func TestTalkThatIsOverSendsNothing(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	input, later := io.Pipe()
	out := newPipe()
	x := newTalk(&sandbox.Talk{Input: input, Output: out})
	require.NoError(t, x.grant(wire.NewWriter(&sent), credit(100)))
	x.write([]byte("to "))
	x.end() // while it waits for input
	x.end()
	x.write([]byte("nobody"))
	x.send(wire.TypeInput, []byte("as when the input comes now"))
	require.Zero(t, x.await())
	require.NoError(t, later.Close())
	require.Zero(t, sent.Len())
	got, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "to ", string(got))
}

func TestTalkThatHasNotBegunCanHaveAnotherContainer(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	out := newPipe()
	x := newTalk(&sandbox.Talk{Input: strings.NewReader("x"), Output: out})
	x.lose() // its first container
	x.write([]byte("kept open"))
	require.NoError(t, x.grant(wire.NewWriter(ours), credit(1)))
	require.Equal(t, "x", expectFrame(t, wire.NewReader(theirs), wire.TypeInput))
	x.lose()
	got, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "kept open", string(got))
}

func TestTalkOfATestWithoutAResultIsClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	out := newPipe()
	tests := &series{next: func(*sandbox.TestResult) (sandbox.Test, bool) {
		return sandbox.Test{Talk: &sandbox.Talk{Input: newPipe(), Output: out}}, true
	}}
	tests.begin(sandbox.Program{}, sandbox.Prepared{Limits: sandbox.DefaultLimits(), Plan: sandbox.Plan{Run: []string{"x"}}}, sandbox.DefaultMaxima())
	require.NotNil(t, tests.take())
	tests.giveUp() // no container could be had for it
	_, err := io.ReadAll(out)
	require.NoError(t, err)
	tests.pending = nil
	tests.giveUp()
}

func TestSessionOfATestThatTalks(t *testing.T) {
	t.Parallel()
	in, out := newPipe(), newPipe()
	_, _ = in.Write([]byte("hello"))
	test := sandbox.Test{ID: "talks", Stdin: []byte("not used"), Talk: &sandbox.Talk{Input: in, Output: out}}
	soon := time.Now().Add(time.Second) // less than a test may need
	tests, _, _, err := converseTest(t, test, soon, func(f *fakeInit) {
		got := f.takeTest()
		require.True(t, got.Talk)
		require.Zero(t, got.StdinSize)
		require.NoError(t, f.Write(wire.TypeCredit, credit(4)))
		require.Equal(t, "hell", expectFrame(t, f.in, wire.TypeInput))
		f.output(wire.TypeOutput, wire.StreamStdout, "kept, ")
		f.output(wire.TypeOutput, wire.StreamStderr, "aside")
		f.output(wire.TypeMore, wire.StreamStdout, strings.Repeat("more, ", 20_000)) // than may be kept
		f.output(wire.TypeOutputEnd, wire.StreamStdout, "")
		f.output(wire.TypeTail, wire.StreamStdout, "more, ")
		f.json(wire.TypeStep, wire.StepReport{Name: "run", StdoutTotal: 120_006, StderrTotal: 5})
		require.Nil(t, f.takeTest(), "what is left of the input goes nowhere")
		f.json(wire.TypeEnd, wire.End{})
	})
	require.NoError(t, err)
	all, err := io.ReadAll(out)
	require.NoError(t, err, "it is closed")
	require.Equal(t, "kept, "+strings.Repeat("more, ", 20_000), string(all))
	require.Equal(t, "kept, more, ", string(tests.previous.Stdout.Data))
	require.True(t, tests.previous.Stdout.Truncated)
	require.Equal(t, "aside", string(tests.previous.Stderr.Data))
}

func TestFramesOfATalkThatMakeNoSenseAreNotBelieved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		talks bool
		frame func(*fakeInit)
	}{
		"credit of a test that does not talk": {false, func(f *fakeInit) { _ = f.Write(wire.TypeCredit, credit(1)) }},
		"more of a test that does not talk":   {false, func(f *fakeInit) { f.output(wire.TypeMore, wire.StreamStdout, "x") }},
		"end of a test that does not talk":    {false, func(f *fakeInit) { f.output(wire.TypeOutputEnd, wire.StreamStdout, "") }},
		"credit that is cut":                  {true, func(f *fakeInit) { _ = f.Write(wire.TypeCredit, credit(1)[1:]) }},
		"more of stderr":                      {true, func(f *fakeInit) { f.output(wire.TypeMore, wire.StreamStderr, "x") }},
		"more of no stream":                   {true, func(f *fakeInit) { _ = f.Write(wire.TypeMore) }},
		"end of no stream":                    {true, func(f *fakeInit) { _ = f.Write(wire.TypeOutputEnd) }},
		"more than is kept":                   {true, func(f *fakeInit) { f.output(wire.TypeOutput, wire.StreamStdout, strings.Repeat("x", 64<<10+1)) }},
		"between tests": {true, func(f *fakeInit) {
			f.json(wire.TypeStep, wire.StepReport{Name: "run"})
			require.Nil(t, f.takeTest())
			_ = f.Write(wire.TypeCredit, credit(1))
		}},
	} {
		test := sandbox.Test{}
		if tt.talks {
			in := newPipe()
			require.NoError(t, in.Close())
			test.Talk = &sandbox.Talk{Input: in, Output: newPipe()}
		}
		_, _, _, err := converseTest(t, test, time.Time{}, func(f *fakeInit) {
			f.takeTest()
			tt.frame(f)
		})
		require.ErrorIs(t, err, errProtocol, name)
	}
}
