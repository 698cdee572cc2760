package jobs

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/sandloop/sandloop/internal/grade"
)

// The first byte of a stored body or result says what follows it.
const (
	formatPlain byte = 'j'
	formatZstd  byte = 'z'
)

// packThreshold is the size in bytes above which compression pays.
const packThreshold = 4 << 10

// maxUnpacked bounds in bytes what a stored value can become, so that a broken one
// cannot take all memory.
const maxUnpacked = 1 << 30

var packer = sync.OnceValue(func() *zstd.Encoder {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return encoder
})

var (
	unpacker     = sync.OnceValue(func() *zstd.Decoder { return newUnpacker(maxUnpacked) })
	blobUnpacker = sync.OnceValue(func() *zstd.Decoder { return newUnpacker(grade.MaxBlob) })
)

func newUnpacker(limit uint64) *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(limit))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return decoder
}

// pack puts the format byte before data and compresses what is large.
func pack(data []byte) []byte {
	if len(data) > packThreshold {
		return packer().EncodeAll(data, append(make([]byte, 0, len(data)/3), formatZstd))
	}
	return append(append(make([]byte, 0, len(data)+1), formatPlain), data...)
}

// unpack returns what was packed.
func unpack(data []byte) ([]byte, error) { return unpackWith(unpacker, data) }

// unpackBlob returns what was packed if it is no more than a blob can be.
func unpackBlob(data []byte) ([]byte, error) { return unpackWith(blobUnpacker, data) }

func unpackWith(decoder func() *zstd.Decoder, data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, errors.New("unpack: the value is empty")
	}
	switch data[0] {
	case formatPlain:
		return data[1:], nil
	case formatZstd:
		plain, err := decoder().DecodeAll(data[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		return plain, nil
	}
	return nil, fmt.Errorf("unpack: the format %q is unknown: want %q or %q", data[0], formatPlain, formatZstd)
}
