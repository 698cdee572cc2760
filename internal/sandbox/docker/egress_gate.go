package docker

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	units "github.com/docker/go-units"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

const (
	egressName = "egress-proxy"
	// egressRules is the file of its rules beside it.
	egressRules = "rules.json"
	egressHost  = "sandloop-egress"
	egressPort  = 3128
	// orderTimeout bounds the time in which the proxy does as it is told.
	orderTimeout = 10 * time.Second
	gateMemory   = 512 * sandbox.MiB
	gatePIDs     = 256
	gateFiles    = 1 << 14
)

// gate is the container with the proxy of all sandboxes of this worker.
type gate struct {
	id   string
	conn types.HijackedResponse
	// lost is closed when the proxy is gone or cannot be understood.
	lost chan struct{}

	mu sync.Mutex
	// answers wait for what the proxy says to the last order of each address.
	answers map[netip.Addr]chan egress.Notice
}

// gateKeeper has the one gate of a Runner.
type gateKeeper struct {
	program []byte

	mu     sync.Mutex
	gate   *gate
	closed bool
}

// currentGate returns the gate, and starts it if it is not there or was lost.
func (r *Runner) currentGate(ctx context.Context, imageID string) (*gate, error) {
	k := &r.gates
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, ErrClosed
	case k.gate != nil && !k.gate.isLost():
		return k.gate, nil
	case k.gate != nil:
		if err := r.removeGate(ctx, k.gate); err != nil {
			return nil, err
		}
		k.gate = nil
	}
	g, err := r.startGate(ctx, imageID)
	if err != nil {
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	k.gate = g
	return g, nil
}

// closeGate ends the gate for good. The sandboxes must be gone.
func (r *Runner) closeGate(ctx context.Context) error {
	k := &r.gates
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.gate == nil {
		return nil
	}
	return r.removeGate(ctx, k.gate)
}

func (r *Runner) removeGate(ctx context.Context, g *gate) error {
	g.conn.Close()
	<-g.lost
	if r.leaves(ctx, g.id) {
		return nil
	}
	return r.removeID(ctx, g.id)
}

// startGate starts the proxy in a container of an image, of which it uses nothing.
func (r *Runner) startGate(ctx context.Context, imageID string) (_ *gate, err error) {
	config, host := GateConfig(r.gateSpec(imageID, time.Now()))
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	name := r.newName() + "-egress"
	created, err := r.docker.ContainerCreate(bounded, config, host, nil, nil, name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create container %s: %w", name, err), r.removeID(ctx, name))
	}
	g := &gate{id: created.ID, lost: make(chan struct{}), answers: map[netip.Addr]chan egress.Notice{}}
	defer func() {
		if err != nil {
			if g.conn.Conn != nil {
				g.conn.Close()
			}
			err = errors.Join(err, r.removeID(ctx, g.id))
		}
	}()
	content, err := ArchiveGate(r.gates.program, r.options.Egress.Bare())
	if err != nil {
		return nil, err
	}
	if err := r.docker.CopyToContainer(ctx, g.id, initDir, bytes.NewReader(content), container.CopyToContainerOptions{}); err != nil {
		return nil, fmt.Errorf("copy %s into container %.12s: %w", egressName, g.id, err)
	}
	if g.conn, err = r.docker.ContainerAttach(ctx, g.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true}); err != nil {
		return nil, fmt.Errorf("attach to container %.12s: %w", g.id, err)
	}
	if err := r.docker.ContainerStart(ctx, g.id, container.StartOptions{}); err != nil {
		return nil, fmt.Errorf("start container %.12s: %w", g.id, err)
	}
	return g, r.hear(ctx, g)
}

// gateSpec is that of this worker's gate.
func (r *Runner) gateSpec(imageID string, now time.Time) GateSpec {
	return GateSpec{
		ImageID: imageID, Outgoing: r.options.Egress.Outgoing, DNS: r.options.Egress.DNS, Seccomp: r.options.Seccomp, CgroupV2: r.daemon.cgroupV2,
		Worker: r.options.Worker, Installation: r.options.Installation,
		Expires: now.Add(createTimeout + readyTimeout), // it counts only until the container runs
	}
}

// GateSpec is all that decides how the proxy's container is made.
type GateSpec struct {
	// ImageID is the digest of an image, of which nothing is used.
	ImageID string
	// Outgoing and DNS are those of [Egress], Seccomp and CgroupV2 those of [ContainerSpec].
	Outgoing, DNS, Seccomp string
	CgroupV2               bool
	// Worker and Installation become labels, and Expires too.
	Worker, Installation string
	Expires              time.Time
}

// GateConfig makes the two halves of Docker's configuration of the proxy's container. It is pure.
func GateConfig(g GateSpec) (*container.Config, *container.HostConfig) {
	pids, off := int64(gatePIDs), false
	args := []string{fmt.Sprintf("--listen=:%d", egressPort), "--rules=" + initDir + "/" + egressRules}
	if g.DNS != "" {
		args = append(args, "--dns="+g.DNS)
	}
	config := &container.Config{
		Image: g.ImageID, Entrypoint: []string{initDir + "/" + egressName}, Cmd: args, WorkingDir: "/", Hostname: egressHost,
		User: uidGID, Env: []string{fmt.Sprintf("GOMEMLIMIT=%d", gateMemory*3/4)},
		// The container ends when its worker does: its stdin closes with the one attachment.
		AttachStdin: true, OpenStdin: true, StdinOnce: true, AttachStdout: true, AttachStderr: true,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}, StopSignal: "SIGKILL", // as a sandbox's
		Labels: map[string]string{
			labels.Installation: g.Installation, labels.Owner: g.Worker, labels.Role: labels.RoleEgress,
			labels.Expires: strconv.FormatInt(g.Expires.Unix(), 10),
		},
	}
	return config, &container.HostConfig{
		AutoRemove: true, // a dead worker cannot remove it; its volume goes too
		LogConfig:  container.LogConfig{Type: "none"}, NetworkMode: container.NetworkMode(cmp.Or(g.Outgoing, "bridge")), ReadonlyRootfs: true,
		// A volume without a name, which holds the program. Root owns it, and nothing here is root.
		Mounts:      []mount.Mount{{Type: mount.TypeVolume, Target: initDir}},
		CapDrop:     []string{"ALL"},
		SecurityOpt: securityOptions(g.Seccomp), IpcMode: container.IPCModePrivate, CgroupnsMode: cgroupns(g.CgroupV2),
		// Sandboxes sending their own packets through it, to what it can reach.
		Sysctls: map[string]string{"net.ipv4.ip_forward": "0"}, Init: &off,
		Resources: container.Resources{
			Memory: gateMemory, MemorySwap: gateMemory, PidsLimit: &pids, OomKillDisable: &off,
			Ulimits: []*units.Ulimit{{Name: "core"}, {Name: "nofile", Soft: gateFiles, Hard: gateFiles}},
		},
	}
}

// hear waits until the proxy listens, and from then on takes what it says.
func (r *Runner) hear(ctx context.Context, g *gate) error {
	stream := &demux{r: g.conn.Reader}
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, egress.MaxLine)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, g.conn.Close)
	if !lines.Scan() || !stop() {
		return fmt.Errorf("container %.12s: the proxy does not listen: %w (it said: %.300q)", g.id, errors.Join(lines.Err(), ctx.Err()), stream.complaint())
	}
	go func() { // removeGate waits for it
		defer close(g.lost)
		defer g.conn.Close()
		for lines.Scan() {
			var n egress.Notice
			if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
				r.options.Log.Error("proxy is not understood", "container", g.id, "err", err)
				return
			}
			g.take(n, r.options.Log)
		}
	}()
	return nil
}

// take logs what became of a connection, or gives an answer to who waits for it.
func (g *gate) take(n egress.Notice, log *slog.Logger) {
	if made := n.Connection; made != nil {
		log.Info("connection", "job", n.Job, "tenant", n.Tenant, "host", made.Host, "port", made.Port, "verdict", made.Verdict, "reason", made.Reason,
			"sent", made.Sent, "received", made.Received, "seconds", made.Duration)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if waits := g.answers[n.At]; waits != nil {
		delete(g.answers, n.At)
		waits <- n
	}
}

func (g *gate) isLost() bool {
	select {
	case <-g.lost:
		return true
	default:
		return false
	}
}

// order tells the proxy to do something and waits for its answer, also when ctx has ended.
func (g *gate) order(ctx context.Context, o egress.Order) (egress.Notice, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTimeout)
	defer cancel()
	line, err := json.Marshal(o)
	if err != nil {
		return egress.Notice{}, fmt.Errorf("tell the proxy: %w", err)
	}
	answer := make(chan egress.Notice, 1)
	g.mu.Lock()
	g.answers[o.At] = answer
	_ = g.conn.Conn.SetWriteDeadline(time.Now().Add(orderTimeout))
	_, err = g.conn.Conn.Write(append(line, '\n'))
	g.mu.Unlock()
	if err != nil {
		return egress.Notice{}, fmt.Errorf("tell the proxy in container %.12s: %w", g.id, err)
	}
	select {
	case n := <-answer:
		if n.Refused != "" {
			return n, fmt.Errorf("the proxy in container %.12s refuses: %s", g.id, n.Refused)
		}
		return n, nil
	case <-g.lost:
		return egress.Notice{}, fmt.Errorf("the proxy in container %.12s is gone", g.id)
	case <-ctx.Done():
		return egress.Notice{}, fmt.Errorf("the proxy in container %.12s does not answer: %w", g.id, ctx.Err())
	}
}
