package faults

import (
	"bytes"
	_ "embed" // the source of the library
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// clockVariable names the file from which a program reads by how many seconds its clock is off.
const clockVariable = "SANDLOOP_TEST_CLOCK"

// A Go program asks the kernel's vDSO for the time, where no library in between can lie to it, and the machine's own
// clock is everybody's. So a steppable worker is built with a time.Now that adds the seconds in a file: the wall
// clock steps as when an operator sets it, and the monotonic clock does not. The file is mapped into memory, since the
// scheduler asks for the time where nothing may be called.
const (
	nowBefore    = "	sec, nsec, mono := runtimeNow()\n	if mono == 0 {\n		return Time{"
	nowAfter     = "	sec, nsec, mono := runtimeNow()\n	if stepOfTest != nil {\n		sec += *stepOfTest\n	}\n	if mono == 0 {\n		return Time{"
	importBefore = "	_ \"unsafe\" // for go:linkname\n"
	importAfter  = "	\"syscall\"\n	\"unsafe\"\n"
	nowMore      = `
// stepOfTest is by how many seconds the clock is off, nil if there is no file that tells.
var stepOfTest = mapStep()

func mapStep() *int64 {
	name, _ := syscall.Getenv("` + clockVariable + `")
	if name == "" {
		return nil
	}
	file, err := open(name)
	if err != nil {
		panic(err)
	}
	mapped, err := syscall.Mmap(int(file), 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	closefd(file)
	return (*int64)(unsafe.Pointer(&mapped[0]))
}
`
)

// steppable builds the worker whose clock can be stepped, once a process.
var steppable = sync.OnceValues(func() (program string, err error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("steppable-%08x", crc32.ChecksumIEEE([]byte(root)))
	err = locked(name, func(dir string) error {
		dir = filepath.Join(dir, name)
		program = filepath.Join(dir, "worker")
		overlay, err := overlayTime(dir)
		if err != nil {
			return err
		}
		return goBuild(root, program, "-overlay", overlay, "./cmd/worker")
	})
	return program, err
})

// overlayTime writes the changed file of the standard library and the list for go build that names it.
func overlayTime(dir string) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output() //nolint:noctx // the go command bounds itself
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	source, err := os.ReadFile(original) //nolint:gosec // of the Go that is in use
	if err != nil {
		return "", err
	}
	text := string(source)
	if strings.Count(text, nowBefore) != 1 || strings.Count(text, importBefore) != 1 {
		return "", errors.New("time.Now of this Go is another one: see internal/e2e/faults/clock.go")
	}
	text = strings.Replace(text, nowBefore, nowAfter, 1)
	text = strings.Replace(text, importBefore, importAfter, 1) + nowMore
	changed, list := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	return list, errors.Join(
		os.MkdirAll(dir, 0o755),                    //nolint:gosec // beside the other programs
		os.WriteFile(changed, []byte(text), 0o600), //nolint:gosec // a name of ours
		os.WriteFile(list, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, original, changed), 0o600),
	)
}

//go:embed testdata/clock.c
var clockSource []byte

// clockLibrary compiles what steps the clock of a C program, which can be lied to: once a process, and kept as programs are.
var clockLibrary = sync.OnceValues(func() (library string, err error) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return "", err
	}
	err = locked("clock", func(dir string) error {
		library = filepath.Join(dir, fmt.Sprintf("clock-%08x.so", crc32.ChecksumIEEE(clockSource)))
		if _, err := os.Stat(library); err == nil {
			return nil
		}
		compile := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-x", "c", "-o", library+".new", "-") //nolint:gosec // the machine's own; ends by itself
		compile.Stdin = bytes.NewReader(clockSource)
		if out, err := compile.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", compiler, err, out)
		}
		return os.Rename(library+".new", library)
	})
	return library, err
})

// writeClock writes the seconds in the machine's own byte order and in one piece, since they are read at any time. The file
// stays the same one: it may be mapped.
func writeClock(path string, d time.Duration) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // a test's own
	if err != nil {
		return err
	}
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(d/time.Second))), 0) //nolint:gosec // a bit pattern
	return errors.Join(err, file.Close())
}
