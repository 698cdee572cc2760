package testenv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Node returns the paths of Node.js and of the installed packages of a package-lock.json, which
// `scripts/setup.sh node` fetches.
func Node(t testing.TB, lock string) (node, modules string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "Node.js is not installed: run scripts/setup.sh node")
	}
	content, err := os.ReadFile(lock) //nolint:gosec // a test names it
	if err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	modules = filepath.Join(root, ".cache", fmt.Sprintf("node-%x", sha256.Sum256(content))[:len("node-")+12], "node_modules")
	if _, err := os.Stat(modules); err != nil { //nolint:gosec // below our own checkout
		Missing(t, "the packages of %s are not installed (%v): run scripts/setup.sh node", lock, err)
	}
	return node, modules
}
