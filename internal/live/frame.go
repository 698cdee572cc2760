package live

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// A frame is the length of its header and that of its body, four bytes each with the highest first, a header in
// JSON and a body. Longer bodies come in pieces, all but the last with more set.
const (
	prefixSize = 8
	// maxHeader and maxBody bound what is believed of a driver; pieceSize is what is sent to it at once.
	maxHeader = 64 << 10
	maxBody   = 256 << 10
	pieceSize = 128 << 10
)

// protocolVersion is what worker and driver must agree on.
const protocolVersion = 1

// The types of frames.
const (
	// To the driver.
	typeWrite     = "write"     // path, exec, more; the first piece replaces the file
	typeDelete    = "delete"    // path
	typeRun       = "run"       // cell, name, source; the body is source bytes of code and then the stdin
	typeInterrupt = "interrupt" // cell
	typeKill      = "kill"      // cell: the interpreter ends, what it wrote is still sent
	// From the driver.
	typeHello   = "hello"   // version
	typeBegan   = "began"   // cell, after writes: its code runs now
	typeOutput  = "out"     // stream, body
	typeDisplay = "display" // mime, more, body
	typeChanged = "changed" // path, exec, more, body
	typeDeleted = "deleted" // paths
	typeRefused = "refused" // refused
	typeDone    = "done"    // cell, status, code and what it used; the body is the value
	typeGone    = "gone"    // cell, 0 between cells: the interpreter has ended
)

// message is the header of a frame. Which fields a type has is said there.
type message struct {
	Type       string        `json:"t"`
	Version    int           `json:"version,omitempty"`
	Cell       int           `json:"cell,omitempty"`
	Name       string        `json:"name,omitempty"`
	Source     int           `json:"source,omitempty"`
	Stream     int           `json:"stream,omitempty"`
	More       bool          `json:"more,omitempty"`
	Path       string        `json:"path,omitempty"`
	Executable bool          `json:"exec,omitempty"`
	MIME       string        `json:"mime,omitempty"`
	Paths      []string      `json:"paths,omitempty"`
	Refused    []refusedFile `json:"refused,omitempty"`
	Status     string        `json:"status,omitempty"`
	Code       int           `json:"code,omitempty"`
	usage
}

// refusedFile is a file that the driver does not send.
type refusedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Limit  bool   `json:"limit,omitempty"`
}

// usage is what a cell used, as the driver read it from the kernel's counters.
type usage struct {
	Wall       float64 `json:"wall,omitempty"`
	CPUUser    float64 `json:"user,omitempty"`
	CPUSystem  float64 `json:"system,omitempty"`
	Peak       int64   `json:"peak,omitempty"`
	OOMKills   int64   `json:"oom,omitempty"`
	PIDsDenied int64   `json:"pids,omitempty"`
	DiskFull   string  `json:"full,omitempty"`
}

// encode makes a frame of a message of ours, whose body may be of any length.
func encode(m message, body ...[]byte) []byte {
	header, _ := json.Marshal(m) // a message has nothing that cannot be encoded
	size := 0
	for _, part := range body {
		size += len(part)
	}
	frame := make([]byte, prefixSize, prefixSize+len(header)+size)
	binary.BigEndian.PutUint32(frame, uint32(len(header))) //nolint:gosec // names and paths are bounded
	binary.BigEndian.PutUint32(frame[4:], uint32(size))
	frame = append(frame, header...)
	for _, part := range body {
		frame = append(frame, part...)
	}
	return frame
}

// errProtocol means that what a driver said is no frame, or not one that is due.
var errProtocol = errors.New("it broke the protocol")

// decoder takes a stream of frames apart as it comes. Its memory is bounded by one frame and one piece of the stream.
type decoder struct {
	frame func(m message, body []byte) error
	held  []byte
	err   error
}

// Write hands on each frame that is complete. The body is valid during the call only. After an error nothing more is read.
func (d *decoder) Write(data []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	d.held = append(d.held, data...)
	rest := d.held
	for {
		size, err := frameSize(rest)
		if err != nil {
			d.err, d.held = err, nil
			return 0, err
		}
		if size == 0 || len(rest) < size {
			break
		}
		if d.err = d.take(rest[:size]); d.err != nil {
			d.held = nil
			return 0, d.err
		}
		rest = rest[size:]
	}
	d.held = append(d.held[:0], rest...)
	return len(data), nil
}

// frameSize is how long the frame is that begins here, or 0 while that is not known.
func frameSize(data []byte) (int, error) {
	if len(data) < prefixSize {
		return 0, nil
	}
	header, body := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	if header > maxHeader || body > maxBody {
		return 0, fmt.Errorf("%w: a frame of %d and %d bytes", errProtocol, header, body)
	}
	return prefixSize + int(header) + int(body), nil
}

func (d *decoder) take(frame []byte) error {
	end := prefixSize + int(binary.BigEndian.Uint32(frame))
	var m message
	if err := json.Unmarshal(frame[prefixSize:end], &m); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return d.frame(m, frame[end:])
}
