package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// imageEnv is the environment that the image gives, without what Docker adds for this container.
// HOME is /tmp and not the workspace, so that caches and dot files do not turn up
// among the files that a job asks back.
func imageEnv(own []string) []string {
	env := make([]string, 0, len(own)+1)
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		if name != "HOSTNAME" && name != "HOME" {
			env = append(env, pair)
		}
	}
	return append(env, "HOME="+tmpDir)
}

// mergeEnv joins lists of KEY=value; the last value of a key counts and has the place of the first.
func mergeEnv(lists ...[]string) []string {
	var merged []string
	at := map[string]int{}
	for _, list := range lists {
		for _, pair := range list {
			name, _, _ := strings.Cut(pair, "=")
			if i, seen := at[name]; seen {
				merged[i] = pair
				continue
			}
			at[name] = len(merged)
			merged = append(merged, pair)
		}
	}
	return merged
}

// lookPath finds a program as execvp does: a name with a slash is itself, relative to dir; another is
// searched in the PATH of env.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var search string
	for _, pair := range env {
		if value, found := strings.CutPrefix(pair, "PATH="); found {
			search = value
		}
	}
	const executable = 0x1 // X_OK
	denied := false
	for _, entry := range filepath.SplitList(search) {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		candidate := filepath.Join(entry, name)
		info, err := os.Stat(candidate)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if syscall.Access(candidate, executable) == nil {
			return candidate, nil
		}
		denied = true
	}
	if denied {
		return "", fmt.Errorf("%s: permission denied", name)
	}
	return "", fmt.Errorf("%s: not found in PATH %q", name, search)
}
