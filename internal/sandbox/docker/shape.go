package docker

import (
	"math"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// key is what cannot be changed once a container exists.
type key struct {
	imageID        string
	runtime        string
	tmp, workspace int64
	openFiles      int64
	network        bool
}

// resources are what an update can change in a running container.
type resources struct {
	memory   int64
	cpuQuota int64
	pids     int
}

// shape is all by which containers without a job differ.
type shape struct {
	key
	resources
}

// cpuPeriod is the kernel's default in microseconds. Quota and period are set rather than
// Docker's NanoCPUs, which the daemon refuses when it is more than the host has.
const cpuPeriod = 100_000

func shapeOf(imageID string, limits sandbox.Limits, network bool) shape {
	return shape{
		key{imageID: imageID, tmp: limits.Tmp, workspace: limits.Workspace, openFiles: limits.OpenFiles, network: network},
		resources{memory: limits.Memory, cpuQuota: int64(math.Round(limits.CPUs * cpuPeriod)), pids: limits.PIDs},
	}
}

// on is the shape with another runtime than the daemon's default.
func (s shape) on(runtime string) shape {
	s.runtime = runtime
	return s
}

func (r resources) cpus() float64 { return float64(r.cpuQuota) / cpuPeriod }
