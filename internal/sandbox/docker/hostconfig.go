package docker

import (
	"fmt"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	units "github.com/docker/go-units"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const (
	initDir  = "/.sandloop"
	initName = "sandbox-init"
	// shmSize is small because the memory limit counts it anyway; Python's multiprocessing needs some.
	shmSize = 16 * sandbox.MiB
	// uidGID is nobody in every image, and in none the owner of a file.
	uidGID = "65534:65534"
)

// ContainerSpec is all that decides how a sandbox's container is made.
type ContainerSpec struct {
	// ImageID is the image's digest; ImageVolumes are the paths that the image declares as volumes.
	ImageID      string
	ImageVolumes []string
	// Limits are the job's.
	Limits sandbox.Limits
	// Network asks for Docker's default bridge, or for Lane if that is not nil.
	Network bool
	Lane    *Lane
	// Seccomp is the profile of allowed system calls as JSON; "" is the daemon's own.
	Seccomp string
	// Runtime is "" for the daemon's default; CgroupV2 tells which cgroups the daemon's host has.
	Runtime  string
	CgroupV2 bool
	// GVisor tells that the runtime is gVisor's.
	GVisor bool
	// InitVolume is the volume that holds sandbox-init.
	InitVolume string
	// Worker, Installation, Job and Attempt become labels; Job is empty for a warm container.
	Worker, Installation, Job string
	Attempt                   int
	// Hold is how long beyond the time of any job the container is held.
	Hold time.Duration
	// Deadline is the time after which sandbox-init ends by itself; Expires is when the
	// container has no business to exist any more.
	Deadline time.Duration
	Expires  time.Time
}

// HostConfig makes the two halves of Docker's configuration of a sandbox. It is the only
// place that decides about isolation, and it is pure.
func HostConfig(c ContainerSpec) (*container.Config, *container.HostConfig) {
	s := shapeOf(c.ImageID, c.Limits, c.Network)
	host := &container.HostConfig{
		AutoRemove: true, // a dead worker cannot remove it
		Runtime:    c.Runtime,
		// A program's output must not fill the host's disk through a log.
		LogConfig: container.LogConfig{Type: "none"},
		// No network: attacks on the host's services, on Redis and on cloud metadata.
		NetworkMode: networkMode(c),
		// Replacing programs that the next step executes; the image's layer filling the disk.
		ReadonlyRootfs: true,
		Tmpfs: map[string]string{
			// Filling the host's disk or memory; /tmp also stops a dropped program from being executed.
			"/tmp": tmpfs("noexec", c.Limits.Tmp),
			// Compiled programs must be executed somewhere.
			"/workspace": tmpfs("exec", c.Limits.Workspace),
		},
		Mounts: append([]mount.Mount{initMount(c)}, maskVolumes(c.ImageVolumes)...),
		// Mounting, raw sockets, chown, ptrace of others, loading modules: what root could do even here.
		CapDrop:     []string{"ALL"},
		SecurityOpt: securityOptions(c.Seccomp),
		// Reading or filling another container's shared memory and message queues.
		IpcMode: container.IPCModePrivate,
		// Learning the host's cgroup paths; on version 1 the daemon mounts only the container's own.
		CgroupnsMode: cgroupns(c.CgroupV2),
		ShmSize:      shmSize,
		// Docker's own init would be a process outside sandbox-init's control.
		Init:      new(bool),
		Resources: containerResources(s.resources, c.Limits.OpenFiles, c.GVisor),
	}
	if c.Lane != nil {
		// Docker's resolver would ask the host's servers, from the host, whatever the network: a way out for data. Nobody answers there.
		host.DNS = []string{c.Lane.Proxy.String()}
		host.ExtraHosts = []string{egressHost + ":" + c.Lane.Proxy.String()}
	}
	return containerConfig(c), host
}

// securityOptions leave AppArmor and SELinux as the daemon has them: where the host has one, it confines the container.
func securityOptions(profile string) []string {
	// Setuid programs of the image giving back what was dropped.
	options := []string{"no-new-privileges:true"}
	if profile == "" {
		return options
	}
	// Holes in parts of the kernel that no language needs.
	return append(options, "seccomp="+profile)
}

func containerConfig(c ContainerSpec) *container.Config {
	return &container.Config{
		Image:      c.ImageID,
		Entrypoint: []string{initDir + "/" + initName},
		// sandbox-init ends by itself at the deadline, whatever became of the worker.
		Cmd:        []string{"--deadline=" + c.Deadline.String()},
		WorkingDir: "/",
		// A kernel bug or a lax file mode in the image reached as root.
		User:     uidGID,
		Hostname: "sandbox", // the host's or the container's name tells about the installation
		// The container ends when its worker does: its stdin closes with the one attachment.
		AttachStdin: true, OpenStdin: true, StdinOnce: true, AttachStdout: true, AttachStderr: true,
		// The network namespace is the container's own and empty, and Docker's slow network set-up is not run. Without that gVisor has no
		// loopback interface.
		NetworkDisabled: !c.Network && !c.GVisor,
		// The image's health check would run beside the job and count against its limits.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		// sandbox-init ignores other signals, and a stopping daemon would wait for it. The time-out stays Docker's: with none a daemon that kills
		// what has just ended by itself forgets it before its runtime does, and leaves the shim for ever.
		StopSignal: "SIGKILL",
		Labels:     containerLabels(c),
	}
}

func containerLabels(c ContainerSpec) map[string]string {
	set := map[string]string{
		labels.Installation: c.Installation,
		labels.Owner:        c.Worker,
		labels.Role:         labels.RoleSandbox,
		labels.Expires:      strconv.FormatInt(c.Expires.Unix(), 10),
	}
	if c.Job != "" {
		set[labels.Job] = c.Job
		set[labels.Attempt] = strconv.Itoa(c.Attempt)
	}
	return set
}

func containerResources(r resources, openFiles int64, gVisor bool) container.Resources {
	limits := changeableResources(r)
	if gVisor {
		pids := gVisorPIDs(*limits.PidsLimit)
		limits.PidsLimit = &pids
	}
	oomKill := false
	limits.OomKillDisable = &oomKill // a job at its limit must end and not hang
	limits.Ulimits = []*units.Ulimit{
		// Core dumps fill the disk. A handler that the host's core_pattern pipes them to is run all the same.
		{Name: "core", Soft: 0, Hard: 0},
		// Taking the kernel's table of open files.
		{Name: "nofile", Soft: openFiles, Hard: openFiles},
	}
	return limits
}

// gVisorPIDs is the limit on the host's threads that lets a sandbox on gVisor have so many processes: one takes two, beside the about 26 of
// gVisor itself, whose sandbox ends where the host gives it no more.
func gVisorPIDs(inside int64) int64 { return 2*inside + 32 }

// changeableResources are those that an update of a warm container sends.
func changeableResources(r resources) container.Resources {
	pids := int64(r.pids + wire.HeadroomPIDs)
	return container.Resources{
		// Taking the host's memory; the same figure for both means no swap, which would make the limit a slow-down.
		Memory: r.memory, MemorySwap: r.memory,
		// Taking the host's processors.
		CPUPeriod: cpuPeriod, CPUQuota: r.cpuQuota,
		// Fork bombs.
		PidsLimit: &pids,
	}
}

func initMount(c ContainerSpec) mount.Mount {
	return mount.Mount{
		// Read-only: a job that replaces sandbox-init for those that come after.
		Type: mount.TypeVolume, Source: c.InitVolume, Target: initDir, ReadOnly: true,
		// Docker makes a missing volume anew, and then it must bear our labels too.
		VolumeOptions: &mount.VolumeOptions{NoCopy: true, Labels: volumeLabels(c.Installation)},
	}
}

// maskVolumes puts an empty read-only file system over each volume that the image declares:
// a volume is a writable directory on the host's disk without a limit.
func maskVolumes(paths []string) []mount.Mount {
	var masks []mount.Mount
	for _, path := range paths {
		if path == "/tmp" || path == "/workspace" || path == initDir {
			continue
		}
		masks = append(masks, mount.Mount{
			Type: mount.TypeTmpfs, Target: path, ReadOnly: true,
			TmpfsOptions: &mount.TmpfsOptions{SizeBytes: 4096, Mode: 0o555},
		})
	}
	return masks
}

func volumeLabels(installation string) map[string]string {
	return map[string]string{labels.Installation: installation, labels.Role: labels.RoleInitVolume}
}

func tmpfs(exec string, size int64) string {
	return fmt.Sprintf("rw,%s,nosuid,nodev,size=%d,mode=1777", exec, size)
}

func networkMode(c ContainerSpec) container.NetworkMode {
	switch {
	case c.Lane != nil:
		return container.NetworkMode(c.Lane.Network)
	case c.Network:
		return "bridge"
	}
	return "none"
}

func cgroupns(v2 bool) container.CgroupnsMode {
	if v2 {
		return container.CgroupnsModePrivate
	}
	return container.CgroupnsModeEmpty
}
