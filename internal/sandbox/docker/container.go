package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// box is a container whose sandbox-init waits for a job.
type box struct {
	id      string
	shape   shape
	created time.Time
	// expires is when its sandbox-init ends by itself.
	expires time.Time
	// jobs have come to their end in it, all of one batch; used is when the last had been cleaned away.
	jobs int
	used time.Time
	// lane is its network, if it has the proxy.
	lane   *lane
	conn   types.HijackedResponse
	stream *demux
	reader *wire.Reader
	writer *wire.Writer
}

// hangUp ends the conversation, and with it sandbox-init. It can be called from anywhere and often.
func (b *box) hangUp() { b.conn.Close() }

// alive tells whether the connection still stands. It is for boxes that wait.
func (b *box) alive() bool {
	if b.conn.Conn.SetReadDeadline(time.Now().Add(2*time.Millisecond)) != nil {
		return false
	}
	_, err := b.conn.Reader.Peek(1)
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout() && b.conn.Conn.SetReadDeadline(time.Time{}) == nil
}

// start makes a container of the shape and waits until its sandbox-init is ready. What a
// failure leaves behind is removed.
func (r *Runner) start(ctx context.Context, spec ContainerSpec, s shape) (b *box, err error) {
	ctx, span := spans.Child(ctx, "container.start")
	defer func() { endStart(span, err) }()
	spec.Deadline = r.lifetime() + spec.Hold
	spec.Expires = time.Now().Add(spec.Deadline + 2*readyTimeout)
	var way *lane
	if spec.Network && r.options.Egress != nil {
		if way, err = r.newLane(ctx, spec.ImageID); err != nil {
			return nil, err
		}
		spec.Lane = &way.Lane
	}
	id, err := r.create(ctx, spec)
	if err != nil {
		return nil, errors.Join(err, r.leaveLane(ctx, &box{lane: way}))
	}
	r.open.Add(1)
	b = &box{id: id, shape: s, created: time.Now(), lane: way}
	b.expires = b.created.Add(spec.Deadline)
	if err := r.startCreated(ctx, b); err != nil {
		return nil, errors.Join(err, r.remove(ctx, b))
	}
	return b, nil
}

// lifetime is how long the sandbox-init of a container that is not held goes on before it ends by itself.
func (r *Runner) lifetime() time.Duration { return r.options.WarmAge + r.options.longestJob() }

// create creates a container. The request is not canceled with ctx, because the daemon would
// then create the container all the same and nobody would know its id.
func (r *Runner) create(ctx context.Context, spec ContainerSpec) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	config, host := HostConfig(spec)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	name := r.newName()
	if spec.Job != "" {
		name = labels.JobName(spec.Job, spec.Attempt)
	}
	created, err := r.docker.ContainerCreate(bounded, config, host, nil, nil, name)
	if errdefs.IsConflict(err) { // the warm container that this one stands in for may still have the name
		name = r.newName()
		created, err = r.docker.ContainerCreate(bounded, config, host, nil, nil, name)
	}
	if err != nil {
		err = fmt.Errorf("create container of image %s: %w", spec.ImageID, err)
		if client.IsErrConnectionFailed(err) {
			return "", err // the daemon never heard of it
		}
		return "", errors.Join(err, r.removeID(ctx, name))
	}
	return created.ID, nil
}

func (r *Runner) startCreated(ctx context.Context, b *box) (err error) {
	// Attached before it is started, nothing that it writes can be missed.
	b.conn, err = r.docker.ContainerAttach(ctx, b.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attach to container %.12s: %w", b.id, err)
	}
	b.stream = &demux{r: b.conn.Reader}
	b.reader, b.writer = wire.NewReader(b.stream), wire.NewWriter(b.conn.Conn)
	if err := r.docker.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return &startError{fmt.Errorf("start container %.12s: %w", b.id, err)}
	}
	if err := b.awaitReady(ctx); err != nil {
		return &startError{fmt.Errorf("container %.12s: %w%s", b.id, err, b.complaint())}
	}
	return nil
}

// startError means that a container could not be started, which a refilled volume may heal.
type startError struct{ error }

func (e *startError) Unwrap() error { return e.error }

func (b *box) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("sandbox-init was not ready within %s", readyTimeout))
	defer cancel()
	defer context.AfterFunc(ctx, b.hangUp)()
	kind, payload, err := b.reader.Read()
	if ctx.Err() != nil {
		return fmt.Errorf("wait for sandbox-init: %w", context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("wait for sandbox-init: %w", err)
	}
	var ready wire.Ready
	switch {
	case kind == wire.TypeFault:
		return fmt.Errorf("sandbox-init: %.500s", payload)
	case kind != wire.TypeReady:
		return fmt.Errorf("wait for sandbox-init: frame %q came first", kind)
	case json.Unmarshal(payload, &ready) != nil || ready.Version != wire.Version:
		return fmt.Errorf("sandbox-init speaks version %d of the protocol, this worker %d", ready.Version, wire.Version)
	}
	return nil
}

func (b *box) complaint() string {
	if said := b.stream.complaint(); said != "" {
		return fmt.Sprintf(" (it said: %.300q)", said)
	}
	return ""
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// newName makes a name that no other container has, not even one of an earlier process of this worker.
func (r *Runner) newName() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return "sandloop-" + notInNames.ReplaceAllString(r.options.Worker, "-") + "-" + hex.EncodeToString(random[:])
}

// update changes a waiting container's memory, processors and processes.
func update(ctx context.Context, docker *client.Client, id string, to resources) error {
	if _, err := docker.ContainerUpdate(ctx, id, container.UpdateConfig{Resources: changeableResources(to)}); err != nil {
		return fmt.Errorf("update limits of container %.12s: %w", id, err)
	}
	return nil
}
