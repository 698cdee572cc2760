package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
)

// fateWait is how long the daemon may take to notice that a container died.
const fateWait = 3 * time.Second

// oomWait is how long after a death by SIGKILL the news of an OOM may come: the two take different ways.
const oomWait = 300 * time.Millisecond

const sigkill = 9

// fate is what the daemon saw of a container whose stream broke.
type fate struct {
	// died tells that its first process ended, with exitCode.
	died     bool
	exitCode int
	// oom tells that the kernel killed one of its processes for its memory.
	oom bool
	// killed tells that somebody killed or removed it through the daemon.
	killed bool
}

// fateOf asks the daemon how a container ended. Its events are the only witness that is
// left: AutoRemove takes the container itself away, and the exit code alone does not tell an OOM kill
// from another. It must be called before we kill the container ourselves.
func (r *Runner) fateOf(ctx context.Context, b *box) (fate, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fateWait)
	defer cancel()
	messages, errs := r.docker.Events(ctx, events.ListOptions{
		Since:   "1", // the daemon keeps only the last few hundred; its clock may not be ours
		Filters: filters.NewArgs(filters.Arg("type", string(events.ContainerEventType)), filters.Arg("container", b.id)),
	})
	var f fate
	var oomIsLate <-chan time.Time
	for {
		select {
		case message := <-messages:
			f.see(message)
			if f.died && (f.oom || f.killed || f.exitCode != exitSignalBase+sigkill) {
				return f, nil
			}
			if f.died && oomIsLate == nil {
				oomIsLate = time.After(oomWait)
			}
		case <-oomIsLate:
			return f, nil
		case err := <-errs:
			if ctx.Err() != nil || errors.Is(err, io.EOF) {
				return f, nil
			}
			return f, fmt.Errorf("events of container %.12s: %w", b.id, err)
		}
	}
}

func (f *fate) see(message events.Message) {
	switch message.Action {
	case events.ActionOOM:
		f.oom = true
	case events.ActionKill:
		f.killed = true
	case events.ActionDie:
		f.died = true
		f.exitCode, _ = strconv.Atoi(message.Actor.Attributes["exitCode"])
	}
}
