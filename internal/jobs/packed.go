package jobs

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// The first byte of a stored body or result says what follows it.
const (
	formatPlain byte = 'j'
	formatZstd  byte = 'z'
)

// packThreshold is the size in bytes above which compression pays.
const packThreshold = 4 << 10

// maxEnding is the size in bytes of JSON up to which a result is kept whole: what Redis takes in one value. What the default maxima allow makes a
// third of it.
const maxEnding = 512 * int(sandbox.MiB)

// content is a kind of value that is stored packed. Whoever can write to Redis can store a few bytes that become very many,
// so each kind is bounded by the largest one that is right.
type content struct {
	name string
	// max is the size in bytes of the largest one before it is packed.
	max int
}

var (
	jobContent    = content{"the job", MaxBodyLimit}
	resultContent = content{"the result", maxEnding}
	blobContent   = content{"the blob", grade.MaxBlob}
)

// errOversized means that somebody has stored what none of ours would, which no repetition mends.
var errOversized = errors.New("no such value is stored here")

// maxStored is more than the largest one takes packed and sealed, however badly it compresses.
func (c content) maxStored() int { return c.max + c.max/16 }

var packer = sync.OnceValue(func() *zstd.Encoder {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return encoder
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return decoder
})

// pack puts the format byte before data and compresses what is large.
func pack(data []byte) []byte {
	if len(data) > packThreshold {
		return packer().EncodeAll(data, append(make([]byte, 0, len(data)/3), formatZstd))
	}
	return append(append(make([]byte, 0, len(data)+1), formatPlain), data...)
}

// unpack returns what was packed. What would become more than the content can be is refused before memory is taken for it.
func (c content) unpack(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, errors.New("unpack: the value is empty")
	}
	if err := c.checkStored(len(data)); err != nil {
		return nil, err
	}
	switch data[0] {
	case formatPlain:
		return data[1:], c.check(uint64(len(data) - 1)) //nolint:gosec // data is not empty
	case formatZstd:
		return c.decompress(data[1:])
	}
	return nil, fmt.Errorf("unpack: the format %q is unknown: want %q or %q", data[0], formatPlain, formatZstd)
}

// check refuses a size in bytes that no right one has.
func (c content) check(size uint64) error {
	if size > uint64(c.max) { //nolint:gosec // max is positive
		return fmt.Errorf("%w: %s is %d bytes: want at most %d", errOversized, c.name, size, c.max)
	}
	return nil
}

// checkStored refuses a size in bytes that no right one has as it is stored.
func (c content) checkStored(size int) error {
	if size > c.maxStored() {
		return fmt.Errorf("%w: %s takes %d bytes as it is stored: want at most %d", errOversized, c.name, size, c.maxStored())
	}
	return nil
}

// checkBulk refuses JSON that would take far more memory than its length tells.
func (c content) checkBulk(plain []byte) error {
	if err := grade.CheckBulk(plain); err != nil {
		return fmt.Errorf("%w: %s: %w", errOversized, c.name, err)
	}
	return nil
}

// zstdBlock is what one block of a frame can become, and zstdHeader is what it takes at least, both in bytes.
const (
	zstdBlock  = 128 << 10
	zstdHeader = 4
)

// decompress returns the content of the one frame that pack makes, which tells its size.
func (c content) decompress(frame []byte) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(frame); err != nil {
		return nil, fmt.Errorf("unpack: read the header of zstd: %w", err)
	}
	if !header.HasFCS {
		return nil, fmt.Errorf("unpack: %s does not tell its size: want one frame of zstd that does", c.name)
	}
	size := header.FrameContentSize
	if err := c.check(size); err != nil {
		return nil, err
	}
	if most := uint64(len(frame)) / zstdHeader * zstdBlock; size > most {
		return nil, fmt.Errorf("unpack: %s tells a size of %d bytes, where %d bytes of zstd become at most %d", c.name, size, len(frame), most)
	}
	plain, err := unpacker().DecodeAll(frame, make([]byte, 0, size)) // and never more than that
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return plain, nil
}
