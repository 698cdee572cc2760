package docker

import (
	"github.com/docker/docker/api/types/container"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// What internal/dockerproxy needs to tell a Runner's requests from others, beside HostConfig and FillConfig.
const (
	// InitDir is where the volume with sandbox-init is mounted, and InitPath sandbox-init in it.
	InitDir  = initDir
	InitPath = initDir + "/" + initName
	// CPUPeriod is the time in microseconds of which a container's quota is a part.
	CPUPeriod = cpuPeriod
)

// ChangeableResources are those that an update of a warm container sends for limits.
func ChangeableResources(limits sandbox.Limits) container.Resources {
	return changeableResources(shapeOf("", limits, false).resources)
}

// PIDsOf is the number of processes that a job has whose container has this limit.
func PIDsOf(limit int64, gVisor bool) int {
	if gVisor {
		limit = (limit - gVisorPIDs(0)) / 2
	}
	return int(limit) - wire.HeadroomPIDs
}

// VolumeLabels are the labels of a volume that holds sandbox-init.
func VolumeLabels(installation string) map[string]string { return volumeLabels(installation) }
