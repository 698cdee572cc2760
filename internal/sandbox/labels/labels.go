// Package labels names the labels and the names by which sandloop finds its own
// containers and volumes on a Docker daemon that it shares with others.
//
// Its one invariant: what lacks the label [Installation] with the right value is not ours
// and is never touched.
//
// It imports the standard library only.
package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// The labels of everything that sandloop creates on a Docker daemon.
const (
	// Installation is the id of the installation, which lives in its Redis.
	Installation = "dev.sandloop.installation"
	// Role is RoleSandbox, RoleInitVolume, RoleEgress or RoleLane.
	Role = "dev.sandloop.role"
	// Owner is the id of the worker that created a container.
	Owner = "dev.sandloop.owner"
	// Expires is the time, in Unix seconds, after which a container has no business to exist.
	Expires = "dev.sandloop.expires"
	// Job and Attempt are set on a container that was started for one job. A container that
	// was started ahead of need has neither; it gets the name JobName when a job takes it.
	Job     = "dev.sandloop.job"
	Attempt = "dev.sandloop.attempt"
)

// The values of Role.
const (
	// RoleSandbox is a container that user code runs in.
	RoleSandbox = "sandbox"
	// RoleInitVolume is a volume that holds sandbox-init, or the container through which it is filled.
	RoleInitVolume = "init-volume"
	// RoleEgress is the container with the proxy through which sandboxes reach what they may, and RoleLane a network between one of
	// them and that container.
	RoleEgress = "egress"
	RoleLane   = "lane"
)

const jobPrefix = "sandloop-job-"

var plainID = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`)

// JobName is the name of the container that runs an attempt of a job. Every container of a
// job has it, whether or not it was started for it.
func JobName(jobID string, attempt int) string {
	return JobNamePrefix(jobID) + strconv.Itoa(attempt)
}

// JobNamePrefix is what the names of all attempts of a job begin with. An id that Docker
// would refuse as a name is replaced by its hash.
func JobNamePrefix(jobID string) string {
	if !plainID.MatchString(jobID) {
		sum := sha256.Sum256([]byte(jobID))
		jobID = hex.EncodeToString(sum[:16])
	}
	return jobPrefix + jobID + "-"
}

// AttemptOf reads the attempt from a container's name, with or without Docker's leading
// slash. It reports false when the name is not of that job.
func AttemptOf(name, jobID string) (int, bool) {
	rest, found := strings.CutPrefix(strings.TrimPrefix(name, "/"), JobNamePrefix(jobID))
	if !found {
		return 0, false
	}
	attempt, err := strconv.Atoi(rest)
	return attempt, err == nil
}
