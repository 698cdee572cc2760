package workspace

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// MaxBytes and MaxFiles bound every archive, whatever the quota of the day it was made.
const (
	MaxBytes = 256 * sandbox.MiB
	MaxFiles = 100_000
)

const (
	// window is how far the compression looks back, and so what reading takes beside the files.
	window = 4 << 20
	// tarOverhead is more than the archive holds for one file beside its content: header, padding, a long path.
	tarOverhead = 8 << 10
)

var compressor = sync.OnceValue(func() *zstd.Encoder {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return encoder
})

// Pack makes a compressed archive of files. The same files in any order give the same archive.
func Pack(files []sandbox.File) ([]byte, error) {
	if err := Check(files); err != nil {
		return nil, err
	}
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, byPath)
	var plain bytes.Buffer
	writer := tar.NewWriter(&plain)
	for _, file := range sorted {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.Path, Size: int64(len(file.Data)), Mode: 0o644}
		if file.Executable {
			header.Mode = 0o755
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %q: %w", file.Path, err)
		}
		if _, err := writer.Write(file.Data); err != nil {
			return nil, fmt.Errorf("pack %q: %w", file.Path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack %d files: %w", len(files), err)
	}
	return compressor().EncodeAll(plain.Bytes(), nil), nil
}

func byPath(a, b sandbox.File) int { return cmp.Compare(a.Path, b.Path) }

// Unpack returns what Pack packed, by path. It never takes more memory than maxBytes of files and what maxFiles
// headers need, and refuses whatever is not a plain file below /workspace. The error is ErrDamaged.
func Unpack(archive []byte, maxBytes int64, maxFiles int) ([]sandbox.File, error) {
	files, err := unpack(archive, maxBytes, maxFiles)
	if err == nil {
		err = Check(files)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	return files, nil
}

func unpack(archive []byte, maxBytes int64, maxFiles int) ([]sandbox.File, error) {
	if len(archive) == 0 { // zstd takes it for a stream of nothing
		return nil, errors.New("unpack: is empty")
	}
	plain, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(2*window), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer plain.Close()
	bounded := io.LimitReader(plain, maxBytes+int64(maxFiles+1)*tarOverhead)
	reader := tar.NewReader(bounded)
	var files []sandbox.File
	for left := maxBytes; ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, bounded) // the checksum is at the end
			return files, err
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		if len(files) == maxFiles {
			return nil, fmt.Errorf("unpack: more than %d files", maxFiles)
		}
		file, err := unpackFile(reader, header, left)
		if err != nil {
			return nil, fmt.Errorf("unpack %.200q: %w", header.Name, err)
		}
		left -= header.Size
		files = append(files, file)
	}
}

func unpackFile(reader io.Reader, header *tar.Header, left int64) (sandbox.File, error) {
	if header.Typeflag != tar.TypeReg {
		return sandbox.File{}, fmt.Errorf("is of type %q and not a file", header.Typeflag)
	}
	if header.Size > left {
		return sandbox.File{}, fmt.Errorf("is %d bytes, where %d are left", header.Size, left)
	}
	data, err := io.ReadAll(reader) // grows with what is there, whatever the header promises
	return sandbox.File{Path: header.Name, Data: data, Executable: header.Mode&0o100 != 0}, err
}

var resultReader = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(MaxResult))
	if err != nil {
		panic(err) // only for options that zstd does not know
	}
	return decoder
})

func packResult(result []byte) []byte { return compressor().EncodeAll(result, nil) }

func unpackResult(packed []byte) ([]byte, error) {
	result, err := resultReader().DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("read the result of a commit: %w (%w)", ErrDamaged, err)
	}
	return result, nil
}
