package docker

import (
	"github.com/docker/docker/api/types/container"

	"github.com/sandloop/sandloop/internal/sandbox"
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

// VolumeLabels are the labels of a volume that holds sandbox-init.
func VolumeLabels(installation string) map[string]string { return volumeLabels(installation) }
