package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const (
	tmpDir       = "/tmp"
	workspaceDir = "/workspace"
	// jobID is the user and group that everything in a sandbox runs as.
	jobID = 65534
)

// kernelFiles are where the kernel tells what it enforces.
type kernelFiles struct {
	status, net string
	group       *cgroup
}

// readView reads back all that is promised about the sandbox. swapAccounted
// tells whether the view's SwapBytes is a limit that the kernel enforces.
func readView(files kernelFiles) (view sandbox.KernelView, swapAccounted bool, err error) {
	limits, err := files.group.limits()
	if err != nil {
		return view, false, fmt.Errorf("read cgroup limits: %w", err)
	}
	view.GVisor = files.group.gVisor
	view.CgroupVersion = files.group.version
	view.MemoryBytes, view.SwapBytes, view.CPUs = limits.memory, limits.swap, limits.cpus
	view.PIDs = -1
	if limits.pids >= 0 {
		view.PIDs = int(limits.pids) - wire.HeadroomPIDs
	}
	status, err := readSmall(files.status)
	if err != nil {
		return view, false, err
	}
	if err := readStatus(status, &view); err != nil {
		return view, false, fmt.Errorf("%s: %w", files.status, err)
	}
	if view.GVisor {
		view.Interfaces, err = interfacesOfGVisor("/proc/self/net/dev")
	} else {
		view.Interfaces, err = interfacesUp(files.net)
	}
	if err != nil {
		return view, false, err
	}
	return view, limits.swapAccounted, readOwnLimits(&view)
}

// readStatus reads user, group, capabilities and filters from /proc/self/status.
func readStatus(status string, view *sandbox.KernelView) error {
	fields := map[string][]string{}
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		fields[name] = strings.Fields(rest)
	}
	if view.GVisor {
		if err := completeStatus(fields); err != nil {
			return err
		}
	}
	number := func(name string) (int, error) {
		if len(fields[name]) == 0 {
			return 0, fmt.Errorf("%s is missing", name)
		}
		for _, other := range fields[name] { // real, effective, saved and file system id
			if other != fields[name][0] {
				return 0, fmt.Errorf("%s is not one but %v", name, fields[name])
			}
		}
		return strconv.Atoi(fields[name][0])
	}
	noNewPrivs := 0
	for name, target := range map[string]*int{
		"Uid": &view.UID, "Gid": &view.GID, "NoNewPrivs": &noNewPrivs, "Seccomp": &view.Seccomp,
	} {
		value, err := number(name)
		if err != nil {
			return err
		}
		*target = value
	}
	view.NoNewPrivs = noNewPrivs == 1
	var capabilities uint64
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if len(fields[name]) != 1 {
			return fmt.Errorf("%s is missing", name)
		}
		set, err := strconv.ParseUint(fields[name][0], 16, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		capabilities |= set
	}
	view.Capabilities = fmt.Sprintf("%016x", capabilities)
	return nil
}

// interfacesUp names the interfaces that could carry packets. What is down does not count:
// some kernels put tunnels (tunl0, sit0) into every new network namespace, all
// down, and bringing one up takes a capability that nothing in here has.
func interfacesUp(dir string) ([]string, error) {
	const flagUp, flagLoopback = 0x1, 0x8 // IFF_UP, IFF_LOOPBACK
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	var up []string
	for _, entry := range entries {
		content, err := readSmall(filepath.Join(dir, entry.Name(), "flags"))
		if err != nil {
			return nil, fmt.Errorf("read network interface: %w", err)
		}
		flags, err := strconv.ParseUint(strings.TrimSpace(content), 0, 32)
		if err != nil {
			return nil, fmt.Errorf("read flags of network interface %s: %w", entry.Name(), err)
		}
		if flags&flagUp != 0 && flags&flagLoopback == 0 {
			up = append(up, entry.Name())
		}
	}
	sort.Strings(up)
	return up, nil
}

// readOwnLimits asks for what has no file: mounts and resource limits.
func readOwnLimits(view *sandbox.KernelView) error {
	const readOnly = 0x1 // ST_RDONLY
	var root, tmp, workspace syscall.Statfs_t
	for path, target := range map[string]*syscall.Statfs_t{"/": &root, tmpDir: &tmp, workspaceDir: &workspace} {
		if err := syscall.Statfs(path, target); err != nil {
			return fmt.Errorf("statfs %s: %w", path, err)
		}
	}
	view.RootReadOnly = root.Flags&readOnly != 0
	view.TmpBytes, view.WorkspaceBytes = size(&tmp), size(&workspace)
	var core, files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &core); err != nil {
		return fmt.Errorf("getrlimit core: %w", err)
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("getrlimit nofile: %w", err)
	}
	// The hard limit is the one that counts: anyone may raise the soft one up to it.
	view.CoreBytes, view.OpenFiles = int64(core.Max), int64(files.Max) //nolint:gosec // unlimited becomes -1
	return nil
}

func size(fs *syscall.Statfs_t) int64 {
	return int64(fs.Blocks) * fs.Bsize //nolint:gosec,unconvert // Bsize differs between architectures
}

// fullFilesystem names the first of the two writable file systems without a free
// block or inode, or is empty.
func fullFilesystem() string {
	for _, path := range []string{tmpDir, workspaceDir} {
		var fs syscall.Statfs_t
		if syscall.Statfs(path, &fs) == nil && (fs.Bavail == 0 || (fs.Files > 0 && fs.Ffree == 0)) {
			return path
		}
	}
	return ""
}
