package faults

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroupPrefix and a process id name the cgroup below which a private dockerd has its containers.
const cgroupPrefix = "sandloop-faults-"

// cgroups lists the folders that match, with cgroup v1 one for each controller.
func cgroups(name string) []string {
	one, _ := filepath.Glob("/sys/fs/cgroup/" + name)
	many, _ := filepath.Glob("/sys/fs/cgroup/*/" + name)
	return append(one, many...)
}

// removeCgroups removes a cgroup and all below it, from which the last process may be about to go.
func removeCgroups(name string) {
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(100 * time.Millisecond) {
		for _, root := range cgroups(name) {
			var folders []string
			_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.IsDir() {
					folders = append(folders, path)
				}
				return nil
			})
			for i := len(folders) - 1; i >= 0; i-- {
				_ = os.Remove(folders[i]) // a cgroup is removed as an empty folder is, whatever it shows
			}
		}
		if len(cgroups(name)) == 0 || time.Now().After(deadline) {
			return
		}
	}
}

// removeStaleCgroups removes what test processes left that were killed.
func removeStaleCgroups() {
	seen := map[string]bool{}
	for _, path := range cgroups(cgroupPrefix + "*") {
		name := filepath.Base(path)
		pid, err := strconv.Atoi(strings.TrimPrefix(name, cgroupPrefix))
		if err == nil && !seen[name] && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			seen[name] = true
			removeCgroups(name)
		}
	}
}
