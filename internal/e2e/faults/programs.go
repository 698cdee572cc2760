package faults

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// cacheDir is where programs and the runtime image are kept between runs: SANDLOOP_CACHE, else the user's cache.
func cacheDir() (string, error) {
	cache := os.Getenv("SANDLOOP_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "sandloop")
	}
	dir := filepath.Join(cache, "faults")
	return dir, os.MkdirAll(dir, 0o755) //nolint:gosec // sandbox-init is read from there
}

// locked runs do while no other process works in the cache under that name.
func locked(name string, do func(dir string) error) error {
	dir, err := cacheDir()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // below our own folder
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // and with it the lock
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return do(dir)
}

// checkout is the root of the module.
var checkout = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
})

// built builds worker, enqueue and sandbox-init once a process. They are kept, so that the next run finds them up to date.
var built = sync.OnceValues(func() (bin string, err error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("bin-%08x", crc32.ChecksumIEEE([]byte(root)))
	err = locked(name, func(dir string) error {
		bin = filepath.Join(dir, name)
		return errors.Join(os.MkdirAll(bin, 0o755), //nolint:gosec // as above
			goBuild(root, bin+"/", "./cmd/worker", "./cmd/enqueue", "./cmd/sandbox-init"))
	})
	return bin, err
})

func goBuild(root, output string, args ...string) error {
	build := exec.Command("go", append([]string{"build", "-o", output}, args...)...) //nolint:gosec,noctx // arguments are ours; it ends by itself
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Programs returns the folder of worker, enqueue and sandbox-init, built from this checkout.
func Programs(t testing.TB) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err) // code that does not build is no reason to skip
	}
	return bin
}
