package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

const (
	headerSize = 5
	macSize    = 16
	// MaxPayload bounds a frame in both directions.
	MaxPayload = 4 << 20
	// ChunkSize is how much of a file or stream a sender puts into one frame.
	ChunkSize = 64 << 10
)

// ErrForged means that a frame was not written by sandbox-init: wrong order, wrong key or cut.
var ErrForged = errors.New("frame is not authentic")

// sealer computes the MAC of each frame of one direction: HMAC-SHA-256 under the key over a
// running number, header and payload, cut to 16 bytes.
type sealer struct {
	mac hash.Hash
	seq uint64
}

func newSealer(key []byte) *sealer { return &sealer{mac: hmac.New(sha256.New, key)} }

func (s *sealer) seal(header, payload []byte) []byte {
	s.mac.Reset()
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], s.seq)
	s.seq++
	s.mac.Write(number[:])
	s.mac.Write(header)
	s.mac.Write(payload)
	return s.mac.Sum(nil)[:macSize]
}

// Writer writes frames. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	key  *sealer
	hold bool
	held []byte // frames that are not written yet
}

// NewWriter returns a Writer whose frames are sealed with the empty key.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, key: newSealer(nil)} }

// SetKey changes the key; the running number starts again at 0.
func (w *Writer) SetKey(key []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.key = newSealer(key)
}

// Write sends one frame whose payload is the parts one after the other.
func (w *Writer) Write(kind Type, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > MaxPayload {
		return fmt.Errorf("frame %c of %d bytes: want at most %d", kind, size, MaxPayload)
	}
	frame := make([]byte, headerSize, headerSize+size+macSize)
	frame[0] = byte(kind)
	binary.BigEndian.PutUint32(frame[1:], uint32(size))
	for _, part := range parts {
		frame = append(frame, part...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	frame = append(frame, w.key.seal(frame[:headerSize], frame[headerSize:])...)
	if w.hold && len(w.held)+len(frame) <= ChunkSize {
		w.held = append(w.held, frame...)
		return nil
	}
	err := w.flushLocked()
	if err == nil {
		_, err = w.w.Write(frame)
	}
	if err != nil {
		return fmt.Errorf("write frame %c: %w", kind, err)
	}
	return nil
}

// Hold keeps frames back until Release or until they are too many, so that they make their way in one piece,
// which costs less than many.
func (w *Writer) Hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = true
}

// Release writes what was held back, and from then on each frame at once.
func (w *Writer) Release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = false
	if err := w.flushLocked(); err != nil {
		return fmt.Errorf("write frames: %w", err)
	}
	return nil
}

func (w *Writer) flushLocked() error {
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.w.Write(w.held)
	w.held = w.held[:0]
	return err
}

// WriteJSON sends a message as the payload of one frame.
func (w *Writer) WriteJSON(kind Type, message any) error {
	payload, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode frame %c: %w", kind, err)
	}
	return w.Write(kind, payload)
}

// Reader reads frames. It is for one goroutine.
type Reader struct {
	r   io.Reader
	key *sealer
}

// NewReader returns a Reader that expects frames sealed with the empty key.
func NewReader(r io.Reader) *Reader { return &Reader{r: r, key: newSealer(nil)} }

// SetKey changes the key; the running number starts again at 0.
func (r *Reader) SetKey(key []byte) { r.key = newSealer(key) }

// Read returns the next frame. The error is io.EOF at the end between two frames, ErrForged
// (wrapped) for anything that a right sender does not write, together with io.ErrUnexpectedEOF
// when the stream ended inside a frame, and else that of the stream.
func (r *Reader) Read() (Type, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r.r, header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, fmt.Errorf("header is cut: %w: %w", ErrForged, err)
		}
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > MaxPayload {
		return 0, nil, fmt.Errorf("payload of %d bytes: %w", size, ErrForged)
	}
	body := make([]byte, int(size)+macSize)
	if _, err := io.ReadFull(r.r, body); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, fmt.Errorf("payload is cut: %w: %w", ErrForged, io.ErrUnexpectedEOF)
		}
		return 0, nil, err
	}
	payload := body[:size]
	if !hmac.Equal(body[size:], r.key.seal(header[:], payload)) {
		return 0, nil, fmt.Errorf("frame %q: %w", header[0], ErrForged)
	}
	return Type(header[0]), payload, nil
}
