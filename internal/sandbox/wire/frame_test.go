package wire_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const overhead = 5 + 16 // header and MAC

var key = bytes.Repeat([]byte{7}, 32)

// stream is the bytes of frames that a Writer with a key makes of payloads, one D frame each.
func stream(t *testing.T, key []byte, payloads ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	w.SetKey(key)
	for _, payload := range payloads {
		require.NoError(t, w.Write(wire.TypeData, []byte(payload)))
	}
	return out.Bytes()
}

func readAll(data, key []byte) (payloads []string, err error) {
	r := wire.NewReader(bytes.NewReader(data))
	r.SetKey(key)
	for {
		kind, payload, err := r.Read()
		if errors.Is(err, io.EOF) {
			return payloads, nil
		}
		if err != nil {
			return payloads, err
		}
		if kind != wire.TypeData {
			return payloads, errors.New("wrong type")
		}
		payloads = append(payloads, string(payload))
	}
}

func TestFrameHasTheLayoutThatIsPromised(t *testing.T) {
	t.Parallel()
	// Worked out apart from the code: type, length, payload, MAC over number, header and payload.
	want := []byte{'D', 0, 0, 0, 2, 'h', 'i'}
	mac := hmac.New(sha256.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, 0))
	mac.Write(want)
	want = append(want, mac.Sum(nil)[:16]...)
	require.Equal(t, want, stream(t, key, "hi"))
}

func TestFramesComeBack(t *testing.T) {
	t.Parallel()
	payloads := []string{"", "a", "\x00\xff\n", string(bytes.Repeat([]byte("x"), wire.ChunkSize+1)), string(make([]byte, wire.MaxPayload))}
	data := stream(t, key, payloads...)
	got, err := readAll(data, key)
	require.NoError(t, err)
	require.Equal(t, payloads, got)

	r := wire.NewReader(iotest.OneByteReader(bytes.NewReader(stream(t, nil, "slow"))))
	_, payload, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, "slow", string(payload))
}

func TestPartsBecomeOnePayload(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, wire.NewWriter(&out).Write(wire.TypeOutput, []byte{1}, []byte("ab"), nil, []byte("c")))
	kind, payload, err := wire.NewReader(&out).Read()
	require.NoError(t, err)
	require.Equal(t, wire.TypeOutput, kind)
	require.Equal(t, "\x01abc", string(payload))
}

func TestPayloadMayBeKept(t *testing.T) {
	t.Parallel()
	r := wire.NewReader(bytes.NewReader(stream(t, nil, "first", "other")))
	_, first, err := r.Read()
	require.NoError(t, err)
	_, _, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, "first", string(first))
}

func TestTooLargeAFrameIsNotWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Error(t, wire.NewWriter(&out).Write(wire.TypeData, make([]byte, wire.MaxPayload), []byte{0}))
	require.Zero(t, out.Len())
}

func TestWriterWrapsTheErrorOfTheStream(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorIs(t, wire.NewWriter(w).Write(wire.TypeEnd), io.ErrClosedPipe)
	require.Error(t, wire.NewWriter(w).WriteJSON(wire.TypeEnd, func() {}))
}

func TestForgedFramesAreNotBelieved(t *testing.T) {
	t.Parallel()
	good := stream(t, key, "one", "two", "three")
	first, second := overhead+3, 2*(overhead+3)
	changed := func(at int) []byte {
		data := bytes.Clone(good)
		data[at] ^= 1
		return data
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	huge := bytes.Clone(good)
	binary.BigEndian.PutUint32(huge[1:], wire.MaxPayload+1)
	for name, test := range map[string]struct {
		data   []byte
		before int // frames that are read before
	}{
		"another key":              {stream(t, []byte("other"), "one"), 0},
		"the empty key":            {stream(t, nil, "one"), 0},
		"type changed":             {changed(0), 0},
		"payload changed":          {changed(5), 0},
		"MAC changed":              {changed(first - 1), 0},
		"second payload changed":   {changed(first + 6), 1},
		"frame repeated":           {join(good[:first], good[:first]), 1},
		"frame left out":           {join(good[:first], good[second:]), 1},
		"frames the wrong way":     {join(good[first:second], good[:first]), 0},
		"text of a program before": {join([]byte("hello world, this is a program\n"), good), 0},
		"text between":             {join(good[:first], []byte("hello world, this is a program\n"), good[first:]), 1},
		"huge length":              {huge, 0},
		"header is cut":            {good[:first+3], 1},
		"payload is cut":           {good[:first+6], 1},
		"MAC is cut":               {good[:second-1], 1},
		"only a header":            {good[:first+5], 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readAll(test.data, key)
			require.ErrorIs(t, err, wire.ErrForged)
			require.Equal(t, []string{"one", "two", "three"}[:test.before], append([]string{}, got...))
		})
	}
}

func TestErrorOfTheStreamIsNotForgery(t *testing.T) {
	t.Parallel()
	broken := io.MultiReader(bytes.NewReader(stream(t, nil, "whole")[:9]), iotest.ErrReader(io.ErrClosedPipe))
	_, _, err := wire.NewReader(broken).Read()
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.NotErrorIs(t, err, wire.ErrForged)
}

func TestNewKeyStartsANewCount(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	require.NoError(t, w.Write(wire.TypeReady))
	w.SetKey(key)
	require.NoError(t, w.Write(wire.TypeStart))
	r := wire.NewReader(&out)
	kind, _, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, wire.TypeReady, kind)
	r.SetKey(key)
	kind, _, err = r.Read()
	require.NoError(t, err)
	require.Equal(t, wire.TypeStart, kind)
	_, _, err = r.Read()
	require.ErrorIs(t, err, io.EOF)
}

func TestWriterIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := wire.NewWriter(&out)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				_ = w.Write(wire.TypeData, []byte("payload"))
			}
		})
	}
	group.Wait()
	got, err := readAll(out.Bytes(), nil)
	require.NoError(t, err)
	require.Len(t, got, 800)
}

func FuzzReader(f *testing.F) {
	var good bytes.Buffer
	w := wire.NewWriter(&good)
	_ = w.Write(wire.TypeReady, []byte(`{"version":1}`))
	_ = w.Write(wire.TypeData)
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:20])
	f.Add([]byte{'D', 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{'D', 0, 0x40, 0, 0})
	f.Add([]byte("Traceback (most recent call last):\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(bytes.NewReader(data))
		read := 0
		for {
			_, payload, err := r.Read()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, wire.ErrForged) {
					t.Fatalf("error is neither the end nor forgery: %v", err)
				}
				break
			}
			if cap(payload) > wire.MaxPayload+16 {
				t.Fatalf("payload of %d bytes", cap(payload))
			}
			read += len(payload) + overhead
		}
		if read > len(data) {
			t.Fatalf("%d bytes read of %d", read, len(data))
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("key"), byte('D'), []byte("payload"))
	f.Add([]byte{}, byte(0), []byte{})
	f.Fuzz(func(t *testing.T, key []byte, kind byte, payload []byte) {
		var out bytes.Buffer
		w := wire.NewWriter(&out)
		w.SetKey(key)
		if err := w.Write(wire.Type(kind), payload); err != nil {
			t.Fatal(err)
		}
		r := wire.NewReader(&out)
		r.SetKey(key)
		gotKind, got, err := r.Read()
		if err != nil || byte(gotKind) != kind || !bytes.Equal(got, payload) {
			t.Fatalf("%v %q %v", gotKind, got, err)
		}
	})
}
