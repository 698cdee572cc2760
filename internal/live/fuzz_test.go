package live

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// FuzzDriver takes any bytes, in pieces of any size, as what a driver says while a cell runs: it breaks the protocol or gives a cell within its bounds.
func FuzzDriver(f *testing.F) {
	say := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	hello, began := encode(message{Type: typeHello, Version: protocolVersion}), encode(message{Type: typeBegan, Cell: 1})
	f.Add(say(hello, began, encode(message{Type: typeOutput, Stream: 1}, []byte("out")), encode(message{Type: typeDone, Cell: 1, Status: "ok"}, []byte("42"))), uint8(7))
	f.Add(say(hello, encode(message{Type: typeChanged, Path: "a/b", More: true}, []byte("1")), encode(message{Type: typeChanged, Path: "a/b"}, []byte("2")),
		encode(message{Type: typeDeleted, Paths: []string{"c"}}), encode(message{Type: typeRefused, Refused: []refusedFile{{Path: "l", Reason: "a link"}}})), uint8(255))
	f.Add(say(hello, encode(message{Type: typeDisplay, MIME: "image/png"}, []byte("\x89PNG")), encode(message{Type: typeDisplay, MIME: "text/html; x"}, []byte("<")),
		encode(message{Type: typeGone, Cell: 1})), uint8(1))
	f.Add(binary.BigEndian.AppendUint64(nil, 1<<60), uint8(3))
	f.Fuzz(func(t *testing.T, said []byte, piece uint8) {
		options := Options{Quota: 4096, MaxFiles: 4, FigureBytes: 1024}
		cell := newCurrent(1, Cell{Output: 64})
		i := &Interpreter{options: options, ready: make(chan struct{}), done: make(chan struct{}), cancel: func(error) {}, input: newInput(), current: cell}
		d := &decoder{frame: i.frame}
		for len(said) > 0 {
			size := min(len(said), int(piece)+1)
			if _, err := d.Write(said[:size]); err != nil {
				require.ErrorIs(t, err, errProtocol)
				break
			}
			said = said[size:]
		}
		require.LessOrEqual(t, len(cell.changes.Written)+len(cell.changes.Deleted), 2*options.MaxFiles+maxRefused)
		var bytes, figures int64
		for _, file := range cell.changes.Written {
			bytes += int64(len(file.Data))
		}
		for _, file := range cell.figures {
			figures += int64(len(file.Data))
		}
		require.LessOrEqual(t, bytes, options.Quota)
		require.LessOrEqual(t, figures, options.FigureBytes)
		require.NoError(t, sandbox.CheckFiles(cell.changes.Written))
		require.True(t, utf8.ValidString(cell.value))
	})
}
