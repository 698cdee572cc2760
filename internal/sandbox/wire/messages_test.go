package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// Worker and sandbox-init of one version must agree, and one of an older version must be told apart.
func TestTypesAreThoseOfTheVersion(t *testing.T) {
	t.Parallel()
	require.Equal(t, 4, wire.Version)
	require.Equal(t, "SDCNZIJRBOGMLPTFEXK", string([]byte{
		byte(wire.TypeSpec), byte(wire.TypeData), byte(wire.TypeCancel), byte(wire.TypeTest), byte(wire.TypeFinish),
		byte(wire.TypeInput), byte(wire.TypeInputEnd), byte(wire.TypeReady), byte(wire.TypeStart), byte(wire.TypeOutput),
		byte(wire.TypeCredit), byte(wire.TypeMore), byte(wire.TypeOutputEnd), byte(wire.TypeStep), byte(wire.TypeTail),
		byte(wire.TypeFile), byte(wire.TypeEnd), byte(wire.TypeFault), byte(wire.TypeClean),
	}))
}

// The bytes were computed with another implementation of HMAC.
func TestFramesOfATalkHaveTheLayoutThatIsPromised(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	w.SetKey(key)
	require.NoError(t, w.Write(wire.TypeCredit, binary.BigEndian.AppendUint32(nil, wire.InputWindow)))
	require.NoError(t, w.Write(wire.TypeMore, []byte{wire.StreamStdout}, []byte("more")))
	require.NoError(t, w.Write(wire.TypeOutputEnd, []byte{wire.StreamStdout}))
	require.NoError(t, w.Write(wire.TypeInput, []byte("in\n")))
	require.NoError(t, w.Write(wire.TypeInputEnd))
	require.Equal(t, ""+
		"4700000004000400006439dc69bfa628d1f405dcb67bec7257"+
		"4d00000005016d6f726521e7d91246f17aeeb3bd46bd8b1677f3"+
		"4c00000001015660161d2f813e7357d9ae155a643197"+
		"4900000003696e0a7cee674fdada4409e368f3eb31ffdf82"+
		"4a000000007cac82af714ab2d6506bd8e09c2180af",
		hex.EncodeToString(out.Bytes()))
}

func TestMessagesOfTestsAreAsPromised(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]any{
		`{"step":{"name":"run","argv":["./a"],"env":null,"stdin":true,"wall_seconds":2.5,"cpu_seconds":1,"output_bytes":3,"output_kill_bytes":4},` +
			`"files":[{"path":"a/","size":0},{"path":"a/b","size":5,"executable":true}],"stdin_size":6,"outputs":["*"],"talk":true}`: wire.Test{
			Step: wire.Step{
				Name: "run", Argv: []string{"./a"}, Stdin: true, WallTime: sandbox.Seconds(2500 * time.Millisecond),
				CPUTime: sandbox.Seconds(time.Second), Output: 3, OutputKill: 4,
			},
			Files:     []wire.FileHeader{{Path: "a/"}, {Path: "a/b", Size: 5, Executable: true}},
			StdinSize: 6, Outputs: []string{"*"}, Talk: true,
		},
		`{"name":"run","exit_code":0,"duration_seconds":0,"cpu_user_seconds":0,"cpu_system_seconds":0,"peak_memory_bytes":0,` +
			`"stdout_total":0,"stderr_total":0,"refused":[{"path":"l","reason":"is a link"}]}`: wire.StepReport{
			Name: "run", Refused: []sandbox.RefusedFile{{Path: "l", Reason: "is a link"}},
		},
	} {
		got, err := json.Marshal(message)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

// FuzzForgedTalk takes any bytes as what a program might have put among the frames of its talk: none of
// them is read as a frame, and what came before stands.
func FuzzForgedTalk(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte{'L', 0, 0, 0, 1, 1}, 1)
	f.Add(append([]byte{'G', 0, 0, 0, 4, 0, 4, 0, 0}, make([]byte, 16)...), 2)
	f.Add([]byte("M\x00\x00\x00\x03\x01ok0123456789abcdef"), 0)
	f.Fuzz(func(t *testing.T, forged []byte, after int) {
		types := []wire.Type{wire.TypeCredit, wire.TypeMore, wire.TypeOutputEnd}
		var stream bytes.Buffer
		w := wire.NewWriter(&stream)
		w.SetKey(key)
		count := int(uint(after) % 3)
		for _, kind := range types[:count] {
			if err := w.Write(kind, []byte("real")); err != nil {
				t.Fatal(err)
			}
		}
		stream.Write(forged)
		r := wire.NewReader(&stream)
		r.SetKey(key)
		for i := 0; ; i++ {
			kind, payload, err := r.Read()
			if err != nil {
				if i != count {
					t.Fatalf("%d frames of %d: %v", i, count, err)
				}
				break
			}
			if i >= count || kind != types[i] || string(payload) != "real" {
				t.Fatalf("frame %d is %c %q", i, kind, payload)
			}
		}
	})
}

// FuzzMessages reads any bytes as each message: what can be read says the same when it is written and read again.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"name":"run","exit_code":0,"duration_seconds":1e9,"refused":[{"path":"l","reason":"is a link"}]}`))
	f.Add([]byte(`{"version":9,"pid":-1,"limits":{"memory_bytes":-1}}`))
	f.Add([]byte(`{"path":"../x","size":-1}`))
	f.Add([]byte(`{"steps":[{"argv":null,"env":{"a":"\ud800"}}],"key":"AA=="}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, message := range []func() any{
			func() any { return &wire.Spec{} }, func() any { return &wire.Test{} }, func() any { return &wire.FileHeader{} }, func() any { return &wire.Ready{} },
			func() any { return &wire.Start{} }, func() any { return &wire.StepReport{} }, func() any { return &wire.End{} }, func() any { return &wire.Fault{} },
		} {
			read := message()
			if json.Unmarshal(data, read) != nil {
				continue
			}
			text, err := json.Marshal(read)
			require.NoError(t, err)
			again := message()
			require.NoError(t, json.Unmarshal(text, again), "%s", text)
			second, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(text), string(second))
		}
	})
}
