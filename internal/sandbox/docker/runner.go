package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// ErrClosed means that a program was given to a Runner after Close.
var ErrClosed = errors.New("runner is closed")

// Runner runs programs in containers of one Docker daemon. It is safe for concurrent use and
// runs as many programs at once as it is asked to.
type Runner struct {
	docker  *client.Client
	options Options
	daemon  daemon
	init    initBinary
	images  *images
	pool    *pool
	reuse   *reuseShelf
	gates   gateKeeper

	stopPool context.CancelFunc
	// tearDowns holds a token for each removal that goes on in the background.
	tearDowns chan struct{}
	counters

	// background counts runs, removals and the pool's loop; none is added once closed is set.
	background sync.WaitGroup
	mu         sync.Mutex
	closed     bool
}

// daemon is what has to be known of the Docker daemon.
type daemon struct {
	architecture string
	// defaultRuntime is the one that the daemon takes for "".
	defaultRuntime string
	cgroupV2       bool
	// gVisor has the names of the runtimes that are gVisor's.
	gVisor map[string]bool
}

// New checks sandbox-init against the daemon, puts it into its volume and starts to fill the pool.
// The languages whose image is on the daemon have warm containers from the start. The
// client remains the caller's; the Runner must be closed before it.
func New(ctx context.Context, docker *client.Client, options Options) (*Runner, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Runner{
		docker: docker, options: options,
		images:    &images{docker: docker, known: map[string]knownImage{}},
		tearDowns: make(chan struct{}, options.TearDowns),
	}
	if r.daemon, err = inspectDaemon(ctx, docker, options); err != nil {
		return nil, err
	}
	if r.init, err = readInit(options.InitPath, r.daemon.architecture); err != nil {
		return nil, err
	}
	if options.Egress != nil {
		if r.gates.program, err = readProgram(options.Egress.ProxyPath, egressName, r.daemon.architecture); err != nil {
			return nil, err
		}
	}
	r.pool = newPool(options, r.startShape, r.removeSoon)
	r.reuse = newReuseShelf(r.removeSoon)
	if err := r.prepareImages(ctx); err != nil {
		return nil, err
	}
	poolCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // the loop ends with Close
	r.stopPool = stop
	r.background.Go(func() {
		r.pool.run(poolCtx, func(err error) { r.options.Log.Warn("warm pool is not full", "err", err) })
	})
	r.background.Go(func() { r.reuse.run(poolCtx) })
	r.pool.poke()
	return r, nil
}

func inspectDaemon(ctx context.Context, docker *client.Client, options Options) (daemon, error) {
	version, err := docker.ServerVersion(ctx)
	if err != nil {
		return daemon{}, fmt.Errorf("ask the Docker daemon for its version: %w", err)
	}
	info, err := docker.Info(ctx)
	if err != nil {
		return daemon{}, fmt.Errorf("ask the Docker daemon about itself: %w", err)
	}
	for _, rule := range append([]RuntimeRule{{Runtime: options.Runtime}}, options.Runtimes...) {
		if _, known := info.Runtimes[rule.Runtime]; rule.Runtime != "" && !known {
			return daemon{}, fmt.Errorf("the Docker daemon has no runtime %q: it has %s", rule.Runtime, strings.Join(slices.Sorted(maps.Keys(info.Runtimes)), ", "))
		}
	}
	found := daemon{
		architecture: version.Arch, defaultRuntime: info.DefaultRuntime, cgroupV2: info.CgroupVersion == "2", gVisor: map[string]bool{},
	}
	for name, runtime := range info.Runtimes {
		found.gVisor[name] = IsGVisor(name, runtime)
	}
	return found, nil
}

// IsGVisor tells whether a runtime of the daemon is gVisor's, by the name of its program or shim or its own.
func IsGVisor(name string, runtime system.RuntimeWithStatus) bool {
	const program = "runsc"
	return strings.Contains(name, program) || strings.Contains(path.Base(runtime.Path), program) || strings.Contains(runtime.Type, program)
}

// runtimeName is the name of a shape's runtime.
func (d daemon) runtimeName(runtime string) string { return cmp.Or(runtime, d.defaultRuntime) }

// usualShape is that of a job in a language which has no tenant and asks for nothing.
func (r *Runner) usualShape(imageID string, language sandbox.Language) shape {
	return shapeOf(imageID, language.Floors.Raise(r.options.Defaults), false).on(r.options.RuntimeOf(""))
}

// prepareImages fills the volume through any image that is there and tells the pool which
// containers to keep warm. An image that is not there is a matter for the first job that needs it.
func (r *Runner) prepareImages(ctx context.Context) error {
	filled := false
	for _, language := range r.options.Languages.All() {
		found, err := r.images.resolve(ctx, language.Image)
		if errors.Is(err, ErrImageAbsent) {
			r.options.Log.Warn("language cannot run", "language", language.Name, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		if !filled {
			for _, gVisor := range r.onEither() {
				if err := r.fillVolume(ctx, found.id, gVisor); err != nil {
					return err
				}
			}
			filled = true
		}
		r.pool.pin(r.usualShape(found.id, language))
	}
	return nil
}

// Warm returns once the pool is full, or with what prevents that.
func (r *Runner) Warm(ctx context.Context) error { return r.pool.fill(ctx) }

// Close waits until no program runs any more, removes the containers that wait for one and waits for all
// removals, until ctx ends. A program that is given to a closed Runner gets ErrClosed.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stopPool()
	boxes := append(r.pool.close(), r.reuse.close()...)
	removed := make(chan error, len(boxes))
	for _, b := range boxes {
		r.background.Go(func() { removed <- r.remove(ctx, b) })
	}
	done := make(chan struct{})
	go func() { r.background.Wait(); close(done) }()
	var errs []error
	select {
	case <-done:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("wait for containers to be removed: %w", context.Cause(ctx)))
	}
	for len(removed) > 0 {
		errs = append(errs, <-removed)
	}
	return errors.Join(append(errs, r.closeGate(ctx))...)
}

// enter counts a run in. The error is ErrClosed.
func (r *Runner) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.background.Add(1)
	return nil
}

// Stats are counts since the Runner was made, and what is there now.
type Stats struct {
	// WarmHits and ColdStarts tell how runs got their container; Adopted counts the warm ones
	// whose limits were changed for that.
	WarmHits, ColdStarts, Adopted int64
	// Reused counts the runs in a container in which another program of the batch had run.
	Reused int64
	// Stale counts warm containers that turned out dead or unfit when they were taken.
	Stale int64
	// Open containers exist now. Warm of them wait, and Kept wait for the next program of a batch.
	Open, Warm, Kept int64
}

type counters struct {
	warmHits, coldStarts, adopted, reused, stale, open atomic.Int64
}

// Stats returns the counts of this moment.
func (r *Runner) Stats() Stats {
	return Stats{
		WarmHits: r.warmHits.Load(), ColdStarts: r.coldStarts.Load(), Adopted: r.adopted.Load(),
		Reused: r.reused.Load(), Stale: r.stale.Load(),
		Open: r.open.Load(), Warm: int64(r.pool.count()), Kept: int64(r.reuse.count()),
	}
}

var _ interface {
	Run(context.Context, sandbox.Program) (sandbox.Result, error)
} = (*Runner)(nil)
