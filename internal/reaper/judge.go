package reaper

import (
	"fmt"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// expiryMargin is how far the clocks of workers and daemon may differ.
const expiryMargin = time.Minute

// fate is what the labels of a container alone say about it.
type fate int

const (
	// keep means that the container has an owner that must be trusted with it.
	keep fate = iota
	// ask means that it goes if its owner does not live.
	ask
	// expired means that it is past its expiry and does not run: it goes, whoever owns it.
	expired
	// unreadable means that it is kept, because its labels cannot be understood.
	unreadable
)

// judge reads a container's labels. now is the daemon's time; why explains unreadable.
func (r *Reaper) judge(c container.Summary, now time.Time) (verdict fate, why string) {
	if c.Labels[labels.Installation] != r.options.Installation {
		return keep, ""
	}
	if c.State == container.StateRemoving { // somebody else is at it
		return keep, ""
	}
	if role := c.Labels[labels.Role]; role != labels.RoleSandbox && role != labels.RoleInitVolume && role != labels.RoleEgress {
		return unreadable, fmt.Sprintf("its role is %q", role)
	}
	seconds, err := strconv.ParseInt(c.Labels[labels.Expires], 10, 64)
	if err != nil || seconds <= 0 {
		return unreadable, fmt.Sprintf("its expiry is %q", c.Labels[labels.Expires])
	}
	owner := c.Labels[labels.Owner]
	switch {
	case owner == "":
		return unreadable, "it names no owner"
	case now.Sub(time.Unix(c.Created, 0)) < r.options.Grace: // if it is past its expiry, its owner's clock errs
		return keep, ""
	case stands(c.State) && now.After(time.Unix(seconds, 0).Add(expiryMargin)):
		return expired, ""
	case owner == r.options.Self:
		return keep, ""
	}
	return ask, ""
}

// stands tells whether a container in that state certainly runs nothing. One that runs ends by
// itself when it is due, so it is left to its owner: the expiry is by the owner's clock, which may be wrong.
func stands(state container.ContainerState) bool {
	return state == container.StateCreated || state == container.StateExited || state == container.StateDead
}
