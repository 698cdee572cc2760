package problem

import (
	"fmt"
	"math"
	"time"
)

// Limits are what a problem allows. A value of 0 is one that the package does not give:
// WithDefaults fills it in.
type Limits struct {
	// Time is the CPU time of a submission on one test. 0 means that the package gives none and
	// that its accepted submissions decide, see Infer.
	Time time.Duration
	// ACToLimit and LimitToTLE are the factors between the slowest accepted submission, the
	// limit and the fastest submission that must be too slow.
	ACToLimit, LimitToTLE float64
	// Resolution is what an inferred limit is a multiple of.
	Resolution time.Duration
	// Memory, Output and Code, in bytes, bind a submission.
	Memory, Output, Code int64
	// CompileTime and CompileMemory bind the compiler.
	CompileTime   time.Duration
	CompileMemory int64
	// ValidationTime, ValidationMemory and ValidationOutput bind an output validator, for one test.
	ValidationTime   time.Duration
	ValidationMemory int64
	ValidationOutput int64
	// ValidationPasses is the most passes of a multi-pass problem.
	ValidationPasses int
	// Languages are the exceptions for languages, by the name that the package uses.
	Languages map[string]LanguageLimits
}

// LanguageLimits are exceptions for one language. 0 is none.
type LanguageLimits struct {
	// Time replaces the problem's limit; TimeFactor multiplies it.
	Time       time.Duration
	TimeFactor float64
	// Memory in bytes replaces the problem's.
	Memory int64
}

const (
	kib = 1 << 10
	mib = 1 << 20
	// The highest values that a package may ask for, so that none means "for ever".
	maxSeconds = 24 * 3600
	maxMiB     = 1 << 20
	maxFactor  = 1000
)

// TypicalLimits are the defaults that the format calls typical: 2048 MiB of memory, 8 MiB of
// output, 128 KiB of code, 60 s and 2048 MiB for compiler and validator, two passes.
func TypicalLimits() Limits {
	return Limits{
		ACToLimit: 2, LimitToTLE: 1.5, Resolution: time.Second,
		Memory: 2048 * mib, Output: 8 * mib, Code: 128 * kib,
		CompileTime: time.Minute, CompileMemory: 2048 * mib,
		ValidationTime: time.Minute, ValidationMemory: 2048 * mib, ValidationOutput: 8 * mib, ValidationPasses: 2,
	}
}

// WithDefaults fills what l does not give from defaults.
func (l Limits) WithDefaults(defaults Limits) Limits {
	l.Time = either(l.Time, defaults.Time)
	l.ACToLimit = either(l.ACToLimit, defaults.ACToLimit)
	l.LimitToTLE = either(l.LimitToTLE, defaults.LimitToTLE)
	l.Resolution = either(l.Resolution, defaults.Resolution)
	l.Memory = either(l.Memory, defaults.Memory)
	l.Output = either(l.Output, defaults.Output)
	l.Code = either(l.Code, defaults.Code)
	l.CompileTime = either(l.CompileTime, defaults.CompileTime)
	l.CompileMemory = either(l.CompileMemory, defaults.CompileMemory)
	l.ValidationTime = either(l.ValidationTime, defaults.ValidationTime)
	l.ValidationMemory = either(l.ValidationMemory, defaults.ValidationMemory)
	l.ValidationOutput = either(l.ValidationOutput, defaults.ValidationOutput)
	l.ValidationPasses = either(l.ValidationPasses, defaults.ValidationPasses)
	return l
}

func either[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// ForLanguage returns the limits of a language that goes by any of the names, such as its
// name and aliases. Of several exceptions the one of the first name counts.
func (l Limits) ForLanguage(names ...string) Limits {
	for _, name := range names {
		exception, found := l.Languages[name]
		if !found {
			continue
		}
		if exception.TimeFactor > 0 {
			l.Time = time.Duration(math.Round(float64(l.Time) * exception.TimeFactor))
		}
		l.Time = either(exception.Time, l.Time)
		l.Memory = either(exception.Memory, l.Memory)
		return l
	}
	return l
}

// Infer returns the time limit for a package that gives none: the smallest multiple of
// Resolution, at least one, that is at least ACToLimit times what the slowest accepted
// submission took on any test.
func (l Limits) Infer(slowestAccepted time.Duration) time.Duration {
	l = l.WithDefaults(TypicalLimits())
	needed := time.Duration(math.Ceil(float64(slowestAccepted) * l.ACToLimit))
	multiples := max(1, (needed+l.Resolution-1)/l.Resolution)
	return multiples * l.Resolution
}

// CheckTime tells whether a time limit keeps the format's distances: from the slowest accepted
// submission below it, and from the fastest one above that must be too slow, 0 being none.
func (l Limits) CheckTime(limit, slowestAccepted, fastestTooSlow time.Duration) error {
	l = l.WithDefaults(TypicalLimits())
	if float64(slowestAccepted)*l.ACToLimit > float64(limit) {
		return fmt.Errorf("the slowest accepted submission takes %v: with the factor %g the limit of %v is too low", slowestAccepted, l.ACToLimit, limit)
	}
	if fastestTooSlow > 0 && float64(limit)*l.LimitToTLE > float64(fastestTooSlow) {
		return fmt.Errorf("a submission that must be too slow takes only %v: with the factor %g the limit of %v is too high", fastestTooSlow, l.LimitToTLE, limit)
	}
	return nil
}

// readLimits reads the limits map of problem.yaml.
func readLimits(m *mapping, legacy bool) Limits {
	var l Limits
	if legacy {
		// The reference of the legacy format infers with these factors.
		l.ACToLimit, l.LimitToTLE = 5, 2
		setFactor(m, "time_multiplier", &l.ACToLimit)
		setFactor(m, "time_safety_margin", &l.LimitToTLE)
	} else {
		factors := m.inner("time_multipliers")
		setFactor(factors, "ac_to_time_limit", &l.ACToLimit)
		setFactor(factors, "time_limit_to_tle", &l.LimitToTLE)
		factors.close()
		if passes, found := m.integer("validation_passes", 2, 1000); found {
			l.ValidationPasses = int(passes)
		}
	}
	// DOMjudge reads time_limit of legacy packages too.
	setSeconds(m, "time_limit", &l.Time)
	setSeconds(m, "time_resolution", &l.Resolution)
	setSeconds(m, "compilation_time", &l.CompileTime)
	setSeconds(m, "validation_time", &l.ValidationTime)
	for key, size := range map[string]*int64{
		"memory": &l.Memory, "output": &l.Output, "compilation_memory": &l.CompileMemory,
		"validation_memory": &l.ValidationMemory, "validation_output": &l.ValidationOutput,
	} {
		setSize(m, key, mib, size)
	}
	setSize(m, "code", kib, &l.Code)
	m.close()
	return l
}

func setFactor(m *mapping, key string, factor *float64) {
	if value, found := m.number(key, 1, maxFactor); found {
		*factor = value
	}
}

func setSeconds(m *mapping, key string, duration *time.Duration) {
	if value, found := m.number(key, 0.001, maxSeconds); found {
		*duration = seconds(value)
	}
}

func seconds(value float64) time.Duration {
	return time.Duration(math.Round(value * float64(time.Second)))
}

func setSize(m *mapping, key string, unit int64, size *int64) {
	if value, found := m.integer(key, 1, maxMiB); found {
		*size = value * unit
	}
}
