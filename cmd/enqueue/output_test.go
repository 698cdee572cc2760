package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func piece(step string, stream sandbox.StreamName, data string) sandbox.Output {
	return sandbox.Output{Step: step, Stream: stream, Data: sandbox.Bytes(data)}
}

func stream(data string) sandbox.Stream {
	return sandbox.Stream{Data: sandbox.Bytes(data), Total: int64(len(data))}
}

func TestOutputIsWholeAndOnceWhateverCameLive(t *testing.T) {
	t.Parallel()
	cut := sandbox.NewStream([]byte("head€"), []byte("tail"), 5000)
	cutInACharacter := sandbox.NewStream([]byte("head\xe2\x82"), []byte("tail"), 5000)
	const missing = "enqueue: stdout: 5000 bytes were written and 11 are kept; the end follows\n"
	for name, c := range map[string]struct {
		live           []sandbox.Output
		final          sandbox.Stream
		stdout, stderr string
	}{
		"nothing came live":           {nil, stream("one\ntwo\n"), "one\ntwo\n", ""},
		"everything came live":        {[]sandbox.Output{piece("run", "stdout", "one\n"), piece("run", "stdout", "two\n")}, stream("one\ntwo\n"), "one\ntwo\n", ""},
		"the end was lost on the way": {[]sandbox.Output{piece("run", "stdout", "one\n")}, stream("one\ntwo\n"), "one\ntwo\n", ""},
		"bytes that are not text":     {[]sandbox.Output{piece("run", "stdout", "\xff")}, stream("\xff\x00\xfe"), "\xff\x00\xfe", ""},
		"long output: head and tail":  {[]sandbox.Output{piece("run", "stdout", "head€")}, cut, "head€tail", missing},
		"a cut in a character":        {[]sandbox.Output{piece("run", "stdout", "head\xe2\x82")}, cutInACharacter, "head\xe2\x82tail", "enqueue: stdout: 5000 bytes were written and 8 are kept; the end follows\n"},
		"a piece in the middle is lost": {
			[]sandbox.Output{piece("run", "stdout", "one\n"), piece("run", "stdout", "three\n")},
			stream("one\ntwo\nthree\n"), "one\nthree\none\ntwo\nthree\n",
			"enqueue: stdout: what was printed so far is not all; the whole output follows\n",
		},
		"the job ran again and said more": {
			[]sandbox.Output{piece("run", "stdout", "one\ntw"), piece("attempt", "", "2"), piece("run", "stdout", "one\n"), piece("run", "stdout", "two\nthree\n")},
			stream("one\ntwo\nthree\n"), "one\ntwo\nthree\n", "",
		},
		"the job ran again and said something else": {
			[]sandbox.Output{piece("run", "stdout", "at 10:00\n"), piece("attempt", "", "2"), piece("run", "stdout", "at 10:01\n"), piece("run", "stdout", "end\n")},
			stream("at 10:01\nend\n"), "at 10:00\nat 10:01\nend\n",
			"enqueue: stdout: what was printed so far is not all; the whole output follows\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			o := newOutput(&stdout, &stderr)
			for _, p := range c.live {
				require.NoError(t, o.live(p))
			}
			require.NoError(t, o.finish(sandbox.Result{Stdout: c.final}))
			require.Equal(t, c.stdout, stdout.String())
			require.Equal(t, c.stderr, stderr.String())
		})
	}
}

func TestWhatACompilerSaysGoesToStderr(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	o := newOutput(&stdout, &stderr)
	require.NoError(t, o.live(piece("compile", "stderr", "main.c:1: warning\n")))
	require.NoError(t, o.live(piece("run", "stdout", "42\n")))
	require.NoError(t, o.finish(sandbox.Result{
		Stdout:  stream("42\n"),
		Stderr:  stream("own\n"),
		Compile: &sandbox.Step{Stdout: stream("linking\n"), Stderr: stream("main.c:1: warning\n")},
	}))
	require.Equal(t, "42\n", stdout.String())
	require.Equal(t, "main.c:1: warning\nlinking\nown\n", stderr.String())
}

func TestAReaderThatWentAwayIsAnError(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	o := newOutput(failingWriter{gone}, &bytes.Buffer{})
	require.ErrorIs(t, o.live(piece("run", "stdout", "x")), gone)
	require.ErrorIs(t, newOutput(failingWriter{gone}, &bytes.Buffer{}).finish(sandbox.Result{Stdout: stream("x")}), gone)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
