package docker

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// stderrKept is how much of what sandbox-init says on its own stderr is kept for messages.
const stderrKept = 4096

// demux reads the stdout part of an attached stream, in which Docker puts eight bytes of
// header before each piece: the stream's number, three zeros and the size.
type demux struct {
	r    io.Reader
	left uint32

	mu     sync.Mutex
	stderr []byte
}

// Read implements io.Reader for stdout. It must not be called concurrently.
func (d *demux) Read(p []byte) (int, error) {
	for d.left == 0 {
		if err := d.header(); err != nil {
			return 0, err
		}
	}
	if uint32(len(p)) > d.left { //nolint:gosec // a larger p only means a smaller share
		p = p[:d.left]
	}
	n, err := d.r.Read(p)
	d.left -= uint32(n) //nolint:gosec // at most left
	return n, err
}

func (d *demux) header() error {
	var header [8]byte
	if _, err := io.ReadFull(d.r, header[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(header[4:])
	switch header[0] {
	case 1:
		d.left = size
		return nil
	case 2:
		return d.keep(size)
	default:
		return fmt.Errorf("attached stream: piece of unknown stream %d", header[0])
	}
}

func (d *demux) keep(size uint32) error {
	d.mu.Lock()
	room := max(0, stderrKept-len(d.stderr))
	d.mu.Unlock()
	kept := make([]byte, min(int(size), room))
	if _, err := io.ReadFull(d.r, kept); err != nil {
		return err
	}
	d.mu.Lock()
	d.stderr = append(d.stderr, kept...)
	d.mu.Unlock()
	_, err := io.CopyN(io.Discard, d.r, int64(size)-int64(len(kept)))
	return err
}

// complaint returns the kept start of what came on stderr.
func (d *demux) complaint() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.stderr)
}
