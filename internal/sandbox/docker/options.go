package docker

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	defaultMaxAge   = 30 * time.Minute
	defaultTearDown = 8
	// inputTimeout bounds everything between the spec and the first step.
	inputTimeout = time.Minute
	// reportMargin is what sandbox-init has beyond the limits of its steps to report and send files.
	reportMargin = 15 * time.Second
	// cancelGrace is what sandbox-init has to report after it was told to cancel.
	cancelGrace = time.Second
	// createTimeout bounds the creation of a container.
	createTimeout = time.Minute
	// renameTimeout bounds the renaming of a container.
	renameTimeout = 10 * time.Second
	// readyTimeout bounds the start of a container until sandbox-init waits for a job.
	readyTimeout = 30 * time.Second
)

// Options configure a [Runner].
type Options struct {
	// Languages, Defaults and Maxima decide how a program runs and what it may ask for.
	Languages        *sandbox.Languages
	Defaults, Maxima sandbox.Limits
	// Runtime is the name of a runtime of the daemon, such as runsc; "" is the daemon's default.
	Runtime string
	// Runtimes give the programs of some tenants another; the first rule that names the tenant counts.
	Runtimes []RuntimeRule
	// Seccomp is the profile of allowed system calls as JSON; "" is the daemon's own.
	Seccomp string
	// InitPath is a static sandbox-init binary for the daemon's architecture.
	InitPath string
	// Worker and Installation go into the labels of everything that is created.
	Worker, Installation string
	// PoolSize is how many containers are kept warm for each pool key; 0 keeps none.
	PoolSize int
	// WarmTotal bounds all warm containers together; 0 is four times PoolSize. A warm
	// container costs about 20 MB of the host's memory.
	WarmTotal int
	// WarmAge is the age at which an unused warm container is replaced; 0 is 30 minutes.
	WarmAge time.Duration
	// TearDowns bounds the removals that go on behind the back of later runs; 0 is 8.
	TearDowns int
	// AllowNetwork lets a program that asks for a network have Docker's default bridge. Egress, if not nil, gives it a proxy instead.
	AllowNetwork bool
	Egress       *Egress
	// AllowReuse lets the programs of a batch that ask for it run one after the other in one container. Without
	// it each has its own, which is more than it asks for.
	AllowReuse bool
	// OnStart is told of each container that started or could not; it is called from many goroutines and must return at
	// once. nil is nobody.
	OnStart func(Start)
	// Log is where trouble that no caller sees goes; nil is slog.Default().
	Log *slog.Logger
}

// RuntimeRule gives the programs of the tenants that its patterns name, see [sandbox.MatchTenant], a runtime of the daemon.
type RuntimeRule struct {
	Tenants []string
	Runtime string
}

// RuntimeOf is the runtime of a tenant's programs; "" is the daemon's default.
func (o Options) RuntimeOf(tenant string) string {
	for _, rule := range o.Runtimes {
		if sandbox.MatchAnyTenant(rule.Tenants, tenant) {
			return rule.Runtime
		}
	}
	return o.Runtime
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Languages == nil:
		return o, errors.New("docker options: Languages is nil")
	case o.Worker == "" || o.Installation == "":
		return o, errors.New("docker options: Worker and Installation must be set")
	case o.InitPath == "":
		return o, errors.New("docker options: InitPath is empty")
	case o.PoolSize < 0 || o.WarmTotal < 0 || o.TearDowns < 0 || o.WarmAge < 0:
		return o, errors.New("docker options: a negative number")
	case o.AllowNetwork && o.Egress != nil:
		return o, errors.New("docker options: AllowNetwork and Egress: want one of them")
	}
	if o.Egress != nil {
		if err := o.Egress.check(); err != nil {
			return o, err
		}
	}
	o.WarmTotal = cmp.Or(o.WarmTotal, 4*o.PoolSize)
	o.WarmAge = cmp.Or(o.WarmAge, defaultMaxAge)
	o.TearDowns = cmp.Or(o.TearDowns, defaultTearDown)
	o.Log = cmp.Or(o.Log, slog.Default())
	return o, nil
}

// longestJob bounds the time from the moment a container is handed a job to its end.
func (o Options) longestJob() time.Duration {
	return inputTimeout + o.Maxima.CompileTime + o.Maxima.WallTime + reportMargin
}
