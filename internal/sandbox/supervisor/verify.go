package supervisor

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// enforced is what the kernel enforces.
type enforced struct {
	group         *cgroup
	view          sandbox.KernelView
	swapAccounted bool
}

func readEnforced(group *cgroup) (enforced, error) {
	view, swapAccounted, err := readView(kernelFiles{status: "/proc/self/status", net: "/sys/class/net", group: group})
	return enforced{group, view, swapAccounted}, err
}

func (e enforced) verify(asked wire.Expect) error {
	if err := verify(asked, e.view, e.swapAccounted); err != nil {
		return fmt.Errorf("limits are not in force: %w", err)
	}
	return nil
}

// verify compares what was asked with what the kernel enforces. The error names each
// difference; then no user code may run.
func verify(asked wire.Expect, view sandbox.KernelView, swapAccounted bool) error {
	var errs []error
	differs := func(field string, want, got any) {
		errs = append(errs, fmt.Errorf("%s: asked for %v, the kernel says %v", field, want, got))
	}
	same := func(field string, want, got int64) {
		if want != got {
			differs(field, want, got)
		}
	}
	page := int64(os.Getpagesize())
	same("memory_bytes", asked.MemoryBytes/page*page, view.MemoryBytes) // the kernel rounds down
	if swapAccounted {
		same("swap_bytes", 0, view.SwapBytes)
	}
	// Written so that NaN is a difference.
	if !(math.Abs(view.CPUs-asked.CPUs) <= asked.CPUs/100) {
		differs("cpus", asked.CPUs, view.CPUs)
	}
	if !view.GVisor {
		same("pids", int64(asked.PIDs), int64(view.PIDs))
		same("seccomp", 2, int64(view.Seccomp))
	}
	same("tmp_bytes", (asked.TmpBytes+page-1)/page*page, view.TmpBytes) // tmpfs rounds up
	same("workspace_bytes", (asked.WorkspaceBytes+page-1)/page*page, view.WorkspaceBytes)
	same("open_files", asked.OpenFiles, view.OpenFiles)
	same("core_bytes", 0, view.CoreBytes)
	same("uid", jobID, int64(view.UID))
	same("gid", jobID, int64(view.GID))
	if !view.RootReadOnly {
		differs("root_read_only", true, false)
	}
	if !view.NoNewPrivs {
		differs("no_new_privs", true, false)
	}
	if view.Capabilities != "0000000000000000" {
		differs("capabilities", "none", view.Capabilities)
	}
	if !asked.Network && len(view.Interfaces) > 0 {
		differs("interfaces", "none", view.Interfaces)
	}
	return errors.Join(errs...)
}
