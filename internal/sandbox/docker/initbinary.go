package docker

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"
)

// machines are the ELF machines of the architectures as Docker names them.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "arm": elf.EM_ARM,
	"ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "riscv64": elf.EM_RISCV,
}

// initBinary is a sandbox-init that was checked.
type initBinary struct {
	content []byte
	// volume is the name of the volume that holds it, made from its content.
	volume string
}

// readInit reads a sandbox-init and makes sure that it can run in any image on a daemon of the architecture.
func readInit(path, architecture string) (initBinary, error) {
	content, err := readProgram(path, initName, architecture)
	if err != nil {
		return initBinary{}, err
	}
	sum := sha256.Sum256(content)
	return initBinary{content: content, volume: "sandloop-init-" + hex.EncodeToString(sum[:6])}, nil
}

// readProgram reads a program that has to run in any image on a daemon of the architecture: an ELF program for it, statically linked.
func readProgram(path, name, architecture string) ([]byte, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the operator's own configuration
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s %s is not a Linux program: %w", name, path, err)
	}
	if want, known := machines[architecture]; known && file.Machine != want {
		return nil, fmt.Errorf("%s %s is for %s: the Docker daemon's architecture is %s", name, path, file.Machine, architecture)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return nil, fmt.Errorf("%s %s is linked dynamically: build it with CGO_ENABLED=0", name, path)
		}
	}
	return content, nil
}

// archive is the tar file that puts sandbox-init into the volume's root.
func (b initBinary) archive() (io.Reader, error) { return archiveProgram(initName, b.content) }

// archiveProgram is a tar file with one program, which everybody may execute and nobody write.
func archiveProgram(name string, content []byte) (io.Reader, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o555, Size: int64(len(content)), ModTime: time.Unix(0, 0)}
	if err := w.WriteHeader(header); err != nil {
		return nil, fmt.Errorf("archive %s: %w", name, err)
	}
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("archive %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("archive %s: %w", name, err)
	}
	return &archive, nil
}
