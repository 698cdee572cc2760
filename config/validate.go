package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// problems collects what is wrong with a configuration.
type problems struct{ errs []error }

func (p *problems) add(key string, value any, want string) {
	p.errs = append(p.errs, fmt.Errorf("%s: %v is not allowed: want %s", key, value, want))
}

// within refuses a value outside lowest to highest. It is written so that NaN, for which
// every comparison is false, is refused.
func within[T cmp.Ordered](p *problems, key string, value, lowest, highest T) {
	if !(value >= lowest && value <= highest) { //nolint:staticcheck // the negation is what refuses NaN
		p.add(key, value, fmt.Sprintf("%v to %v", lowest, highest))
	}
}

func (p *problems) oneOf(key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		p.add(key, fmt.Sprintf("%q", value), "one of "+strings.Join(allowed, ", "))
	}
}

var plainWord = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$`)

func (p *problems) word(key, value string) {
	if !plainWord.MatchString(value) {
		p.add(key, fmt.Sprintf("%q", value), "1 to 64 letters, digits, dots, hyphens and underscores")
	}
}

// Validate tells everything that is wrong, each with its key, the value and what is allowed.
func (c Config) Validate() error {
	p := &problems{}
	c.Redis.validate(p)
	c.Worker.validate(p)
	c.Sandbox.validate(p)
	c.Network.validate(p, c.Sandbox)
	c.Limits.validate(p)
	within(p, "jobs.retention", c.Jobs.Retention, time.Minute, 90*24*time.Hour)
	within(p, "jobs.body_limit", c.Jobs.BodyLimit, Size(sandbox.KiB), Size(256*sandbox.MiB))
	c.Sessions.validate(p)
	within(p, "reaper.period", c.Reaper.Period, 5*time.Second, 24*time.Hour)
	within(p, "reaper.grace", c.Reaper.Grace, time.Second, 24*time.Hour)
	c.Tracing.validate(p)
	c.Admin.validate(p)
	p.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.oneOf("log.format", c.Log.Format, "auto", "text", "json")
	return errors.Join(p.errs...)
}

func (w Worker) validate(p *problems) {
	within(p, "worker.concurrency", w.Concurrency, 0, 4096)
	within(p, "worker.interactive_slots", w.InteractiveSlots, 0, 4096)
	within(p, "worker.grace", w.Grace, 0, 24*time.Hour)
	within(p, "worker.max_attempts", w.MaxAttempts, 1, 100)
	within(p, "worker.blob_cache", w.BlobCache, 0, Size(64*sandbox.GiB))
	within(p, "worker.weights.interactive", w.Weights.Interactive, 1, 1000)
	within(p, "worker.weights.default", w.Weights.Default, 1, 1000)
	within(p, "worker.weights.batch", w.Weights.Batch, 1, 1000)
}

func (s Sessions) validate(p *problems) {
	// A Redis value holds 512 MiB, and a worker has the files of each of its jobs in memory.
	within(p, "sessions.quota", s.Quota, Size(4*sandbox.KiB), Size(256*sandbox.MiB))
	within(p, "sessions.max_files", s.MaxFiles, 1, 100_000)
	within(p, "sessions.expiry", s.Expiry, time.Minute, 90*24*time.Hour)
	within(p, "sessions.live", s.Live, 0, 1000)
	before := len(p.errs)
	within(p, "sessions.absolute_timeout", s.AbsoluteTimeout, time.Second, 30*24*time.Hour)
	upTo := s.AbsoluteTimeout
	if len(p.errs) > before {
		upTo = 30 * 24 * time.Hour // a bad one says nothing about the other
	}
	within(p, "sessions.idle_timeout", s.IdleTimeout, time.Second, upTo)
}
