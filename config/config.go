package config

import (
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Embedded is the value of Redis.Addr that stands for a Redis inside the worker's own process.
const Embedded = "embedded"

// Config holds every setting. A key is the path of the mapstructure tags, such as
// redis.addr; its environment variable is SANDLOOP_REDIS_ADDR.
type Config struct {
	Redis   Redis   `mapstructure:"redis"`
	Worker  Worker  `mapstructure:"worker"`
	Sandbox Sandbox `mapstructure:"sandbox"`
	Network Network `mapstructure:"network"`
	Limits  Limits  `mapstructure:"limits"`
	// LanguagesFile overrides rows of the built-in language table; empty is none.
	LanguagesFile string   `mapstructure:"languages_file"`
	Jobs          Jobs     `mapstructure:"jobs"`
	Sessions      Sessions `mapstructure:"sessions"`
	Reaper        Reaper   `mapstructure:"reaper"`
	Admin         Admin    `mapstructure:"admin"`
	Tracing       Tracing  `mapstructure:"tracing"`
	Log           Log      `mapstructure:"log"`

	// File is the file that was read, empty if there was none.
	File string `mapstructure:"-"`
}

// Redis says where the queue is.
type Redis struct {
	// Addr is Embedded, host:port or a URL, see the schemes in validate_redis.go.
	Addr     string `mapstructure:"addr"`
	Username string `mapstructure:"username"`
	// Password is the password, or PasswordFile a file whose first line it is.
	Password     string `mapstructure:"password"`
	PasswordFile string `mapstructure:"password_file"`
	// SentinelUsername and SentinelPassword, or the first line of SentinelPasswordFile, are for the sentinels themselves.
	SentinelUsername     string `mapstructure:"sentinel_username"`
	SentinelPassword     string `mapstructure:"sentinel_password"`
	SentinelPasswordFile string `mapstructure:"sentinel_password_file"`
	// DB is the number of the database; Cluster has only 0.
	DB  int `mapstructure:"db"`
	TLS TLS `mapstructure:"tls"`
	// Prefix starts every key of ours, so that installations can share a Redis.
	Prefix string `mapstructure:"prefix"`
	// EmbeddedAddr is the loopback address on which the embedded Redis is served.
	EmbeddedAddr string `mapstructure:"embedded_addr"`
}

// TLS secures the connection to Redis. Empty files mean the system's authorities and no client certificate.
type TLS struct {
	// Enabled turns TLS on; an address with the scheme rediss does too.
	Enabled bool   `mapstructure:"enabled"`
	CA      string `mapstructure:"ca"`
	Cert    string `mapstructure:"cert"`
	Key     string `mapstructure:"key"`
	// ServerName is the name that the server's certificate must carry, by default that of the address.
	ServerName string `mapstructure:"server_name"`
}

// Worker says how much a worker does at once and how it ends.
type Worker struct {
	// Concurrency is the number of slots that all queues share; 0 lets AutoConcurrency decide.
	Concurrency int `mapstructure:"concurrency"`
	// InteractiveSlots come on top, for interactive jobs alone.
	InteractiveSlots int `mapstructure:"interactive_slots"`
	// Grace is how long a stopping worker lets its jobs finish before it hands them back.
	Grace time.Duration `mapstructure:"grace"`
	// MaxAttempts bounds how often a job is tried when our machinery fails.
	MaxAttempts int `mapstructure:"max_attempts"`
	// BlobCache is how much memory the test data take that submissions were judged by last; 0 is none.
	BlobCache Size    `mapstructure:"blob_cache"`
	Weights   Weights `mapstructure:"weights"`
}

// Weights are the queues' shares of the shared slots when all have jobs waiting.
type Weights struct {
	Interactive int `mapstructure:"interactive"`
	Default     int `mapstructure:"default"`
	Batch       int `mapstructure:"batch"`
}

// Sandbox says how containers are made.
type Sandbox struct {
	// Runtime is an OCI runtime that the Docker daemon knows; empty is the daemon's default.
	Runtime string `mapstructure:"runtime"`
	// Runtimes give the jobs of some tenants another one; the first rule that names the tenant counts.
	Runtimes []RuntimeRule `mapstructure:"runtimes"`
	// Seccomp is the profile of allowed system calls: empty is the built-in one, DockerSeccomp the daemon's, else the path of a file.
	Seccomp string `mapstructure:"seccomp"`
	// InitPath is the sandbox-init program; empty is the one beside the worker's executable.
	InitPath string `mapstructure:"init_path"`
	// PoolSize is how many warm containers are kept ready for each image.
	PoolSize int `mapstructure:"pool_size"`
	// AllowNetwork lets every job that asks for it have Docker's plain bridge. Network is the way to let some have some.
	AllowNetwork bool `mapstructure:"allow_network"`
	// AllowReuse lets jobs of one batch that ask for it run one after the other in one container.
	AllowReuse bool `mapstructure:"allow_reuse"`
	// DockerHost is the daemon's address; empty is what Docker's own variables say.
	DockerHost string `mapstructure:"docker_host"`
}

// Limits are what a job gets and the most that it may ask for.
type Limits struct {
	Defaults LimitSet `mapstructure:"defaults"`
	Maxima   LimitSet `mapstructure:"maxima"`
}

// Jobs says how jobs are kept.
type Jobs struct {
	// Retention is how long a finished job and its result can be read.
	Retention time.Duration `mapstructure:"retention"`
	// BodyLimit is the largest job in bytes, as it is stored.
	BodyLimit Size `mapstructure:"body_limit"`
	// SignKeyFile holds the keys of a producer, of which the first signs, and VerifyKeyFile those of which one must have signed what
	// a worker runs. Empty is no signature and every job.
	SignKeyFile   string `mapstructure:"sign_key_file"`
	VerifyKeyFile string `mapstructure:"verify_key_file"`
	// SealKeyFile holds the keys that what Redis keeps of jobs and sessions is sealed with, the first, and opened. Empty leaves it plain.
	SealKeyFile string `mapstructure:"seal_key_file"`
}

// Sessions says how much a session keeps, and for how long.
type Sessions struct {
	// Quota is the size of all files of a session together, before they are compressed.
	Quota Size `mapstructure:"quota"`
	// MaxFiles is how many files a session may hold.
	MaxFiles int `mapstructure:"max_files"`
	// Expiry is how long the files of a session are kept after it was last used.
	Expiry time.Duration `mapstructure:"expiry"`
	// Live is how many live interpreters one worker holds at once; 0 is none.
	Live int `mapstructure:"live"`
	// IdleTimeout ends a live interpreter that nobody called for so long, and AbsoluteTimeout any that is so old.
	IdleTimeout     time.Duration `mapstructure:"idle_timeout"`
	AbsoluteTimeout time.Duration `mapstructure:"absolute_timeout"`
}

// Reaper says how what dead workers leave is removed.
type Reaper struct {
	// Period is the time between two sweeps of a Docker daemon.
	Period time.Duration `mapstructure:"period"`
	// Grace is the age below which a container is never removed for want of an owner.
	Grace time.Duration `mapstructure:"grace"`
}

// Tracing says where traces go.
type Tracing struct {
	// Endpoint is a receiver of OTLP over HTTP, http(s)://host:port; empty is none, and then nothing is traced.
	Endpoint string `mapstructure:"endpoint"`
	// Sample is the share of traces that are recorded, 0 to 1, of those that begin here: one that goes on here
	// is recorded if it was where it began.
	Sample float64 `mapstructure:"sample"`
	// HeadersFile holds HTTP headers for the receiver, such as a token, one a line.
	HeadersFile string `mapstructure:"headers_file"`
}

// Admin says where a worker serves probes, metrics and pages, and to whom.
type Admin struct {
	// Addr is host:port, where port 0 is any that is free. Empty serves nothing, since several workers of a host, which
	// by default get along with each other, cannot share a port.
	Addr string `mapstructure:"addr"`
	// Token is the password, with any user name, or bearer token of the pages, or TokenFile a file whose first line it is.
	// Without one there are no pages.
	Token     string `mapstructure:"token"`
	TokenFile string `mapstructure:"token_file"`
	// ProtectMetrics wants the token for metrics too. Probes are open to all.
	ProtectMetrics bool `mapstructure:"protect_metrics"`
}

// Log says what is logged and how.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `mapstructure:"level"`
	// Format is text, json, or auto for text on a terminal and JSON otherwise.
	Format string `mapstructure:"format"`
}

// Default returns the settings that hold where nobody says otherwise.
func Default() Config {
	return Config{
		Redis: Redis{Addr: Embedded, Prefix: "sandloop", EmbeddedAddr: "127.0.0.1:6390"},
		Worker: Worker{
			InteractiveSlots: 1, Grace: 30 * time.Second, MaxAttempts: 4, BlobCache: Size(256 * sandbox.MiB),
			Weights: Weights{Interactive: 6, Default: 3, Batch: 1},
		},
		Sandbox: Sandbox{Runtimes: []RuntimeRule{}, PoolSize: 2, AllowReuse: true},
		Network: Network{Rules: []NetworkRule{}, Outgoing: "bridge", Subnet: "198.18.0.0/15"},
		Limits: Limits{
			Defaults: newLimitSet(sandbox.DefaultLimits()),
			Maxima:   newLimitSet(sandbox.DefaultMaxima()),
		},
		Jobs: Jobs{Retention: 24 * time.Hour, BodyLimit: Size(96 * sandbox.MiB)},
		Sessions: Sessions{
			Quota: Size(64 * sandbox.MiB), MaxFiles: 1000, Expiry: 24 * time.Hour,
			Live: 4, IdleTimeout: 15 * time.Minute, AbsoluteTimeout: 8 * time.Hour,
		},
		Reaper:  Reaper{Period: time.Minute, Grace: time.Minute},
		Tracing: Tracing{Sample: 1},
		Log:     Log{Level: "info", Format: "auto"},
	}
}
