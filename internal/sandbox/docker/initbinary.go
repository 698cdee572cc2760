package docker

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/egress"
)

// machines are the ELF machines of the architectures as Docker names them.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "arm": elf.EM_ARM,
	"ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "riscv64": elf.EM_RISCV,
}

// initBinary is a sandbox-init that was checked.
type initBinary struct {
	content []byte
	// closed and open are the names of the volumes that hold it: one for gVisor's sandboxes, and one for all others.
	closed, open string
}

// volume is the name of the volume that holds it for sandboxes on gVisor, or for others.
func (b initBinary) volume(gVisor bool) string {
	if gVisor {
		return b.open
	}
	return b.closed
}

// readInit reads a sandbox-init and makes sure that it can run in any image on a daemon of the architecture.
func readInit(path, architecture string) (initBinary, error) {
	content, err := readProgram(path, initName, architecture)
	if err != nil {
		return initBinary{}, err
	}
	return initBinary{content: content, closed: InitVolumeName(content, false), open: InitVolumeName(content, true)}, nil
}

// InitVolumeName is the name of the volume that holds this sandbox-init for sandboxes on gVisor, or for others.
func InitVolumeName(content []byte, gVisor bool) string {
	// The rights are a part of it: a volume that was filled with others is another one.
	dir, program := initModes(gVisor)
	sum := sha256.Sum256(fmt.Appendf(slices.Clip(content), "%o %o", dir, program))
	return "sandloop-init-" + hex.EncodeToString(sum[:16])
}

// initModes are the rights of the volume and of sandbox-init in it. All sandboxes of a host mount it, and whoever can open a file
// can lock it for all to see. Without the right to read, the directory can be passed and sandbox-init be executed, and neither be opened.
// gVisor shares no locks, and reads what it executes with the user's rights.
func initModes(gVisor bool) (dir, program int64) {
	if gVisor {
		return 0o755, 0o555
	}
	return 0o711, 0o111
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

// ArchiveInit is the tar file that a Runner unpacks in the root of a container with the volume, to put sandbox-init there: what
// is unpacked in the volume's own root leaves the rights of that as they are.
func ArchiveInit(content []byte, gVisor bool) ([]byte, error) {
	name := strings.TrimPrefix(initDir, "/") + "/"
	dir, program := initModes(gVisor)
	return archive(tarFile{name: name, mode: dir}, tarFile{name: name + initName, mode: program, content: content})
}

// ArchiveGate is the tar file that a Runner unpacks in [InitDir] of a gate.
func ArchiveGate(program []byte, rules []egress.Rule) ([]byte, error) {
	encoded, err := egress.EncodeRules(rules)
	if err != nil {
		return nil, err
	}
	return archive(tarFile{name: egressName, mode: 0o555, content: program}, tarFile{name: egressRules, mode: 0o444, content: encoded})
}

// tarFile is a file of root, or a directory if its name ends in a slash.
type tarFile struct {
	name    string
	mode    int64
	content []byte
}

func archive(files ...tarFile) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: time.Unix(0, 0)}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("close an archive: %w", err)
	}
	return archive.Bytes(), nil
}
