package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// optional is a flag that sets a pointer, so that a flag that is absent stays the
// operator's default.
type optional[T any] struct {
	target **T
	kind   string
	parse  func(string) (T, error)
}

// Set parses the flag's value.
func (o *optional[T]) Set(text string) error {
	value, err := o.parse(text)
	if err != nil {
		return err
	}
	*o.target = &value
	return nil
}

// String returns the default, which is none.
func (o *optional[T]) String() string { return "" }

// Type names the kind of value in help.
func (o *optional[T]) Type() string { return o.kind }

// addLimitFlags registers a flag for each limit that a command line can set.
func addLimitFlags(flags *pflag.FlagSet, limits *sandbox.Overrides) {
	size := func(target **int64, name, usage string) {
		flags.Var(&optional[int64]{target, "SIZE", parseSize}, name, usage)
	}
	seconds := func(target **sandbox.Seconds, name, short, usage string) {
		flags.VarP(&optional[sandbox.Seconds]{target, "TIME", parseTime}, name, short, usage)
	}
	seconds(&limits.WallTime, "timeout", "t", "wall-clock limit, such as 2, 2.5s or 1m")
	seconds(&limits.CPUTime, "cpu-time", "", "CPU-time limit of all its processes (default: what the wall-clock limit allows)")
	seconds(&limits.CompileTime, "compile-timeout", "", "wall-clock limit of the compiler")
	size(&limits.Memory, "memory", "memory limit, such as 256MiB or 1g; files in /tmp and /workspace count")
	flags.Var(&optional[float64]{&limits.CPUs, "NUMBER", parseCPUs}, "cpus", "share of processors, such as 0.5")
	flags.Var(&optional[int]{&limits.PIDs, "NUMBER", parseCount}, "pids", "processes and threads at once")
	size(&limits.Output, "output-limit", "bytes kept of each output stream: head and tail of what is longer")
}

func parseSize(text string) (int64, error) {
	value, err := config.ParseSize(text)
	if err != nil || value <= 0 {
		return 0, errors.New("want a size above 0, such as 64KiB, 256MiB or 1GiB")
	}
	return int64(value), nil
}

func parseTime(text string) (sandbox.Seconds, error) {
	wrong := errors.New("want a time above 0 in seconds or with a unit, such as 2, 2.5s or 1m")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		nanos := seconds * float64(time.Second)
		if !(nanos >= 1 && nanos < math.MaxInt64) {
			return 0, wrong
		}
		return sandbox.Seconds(nanos), nil
	}
	value, err := time.ParseDuration(text)
	if err != nil || value <= 0 {
		return 0, wrong
	}
	return sandbox.Seconds(value), nil
}

func parseCPUs(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value > 0) || math.IsInf(value, 0) {
		return 0, errors.New("want a number above 0, such as 0.5")
	}
	return value, nil
}

func parseCount(text string) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value <= 0 {
		return 0, errors.New("want a whole number above 0")
	}
	return value, nil
}

// limitFlags tells which flag sets a limit, and whether it is a size.
var limitFlags = map[string]struct {
	flag string
	size bool
}{
	"memory_bytes":    {"--memory", true},
	"cpus":            {"--cpus", false},
	"pids":            {"--pids", false},
	"wall_seconds":    {"--timeout", false},
	"cpu_seconds":     {"--cpu-time", false},
	"compile_seconds": {"--compile-timeout", false},
	"output_bytes":    {"--output-limit", true},
}

// refusal words a job's refusal in terms of flags, one line for each thing that is wrong.
func refusal(err error) error {
	var joined interface{ Unwrap() []error }
	var limit *sandbox.LimitError
	var language *sandbox.UnknownLanguageError
	switch {
	case errors.As(err, &joined):
		var lines []string
		for _, one := range joined.Unwrap() {
			lines = append(lines, refusal(one).Error())
		}
		return usageError(errors.New(strings.Join(lines, "\n")))
	case errors.As(err, &limit):
		known, found := limitFlags[limit.Field]
		if !found {
			return usageError(limit)
		}
		show := func(value string) string {
			bytes, err := strconv.ParseInt(value, 10, 64)
			if err != nil || !known.size {
				return value
			}
			return humanSize(bytes)
		}
		return usagef("%s: %s is not allowed: want %s to %s", known.flag, show(limit.Value), show(limit.Min), show(limit.Max))
	case errors.As(err, &language):
		return usagef("--language: %q is unknown: want one of %s", language.Name, strings.Join(language.Known, ", "))
	}
	return usageError(err)
}

// humanSize writes a size with its unit, such as 256MiB.
func humanSize(bytes int64) string { return config.Size(bytes).String() }

// countedSize is humanSize for what need not be round, such as what is left of a limit.
func countedSize(bytes int64) string {
	if bytes%sandbox.KiB != 0 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	return humanSize(bytes)
}
