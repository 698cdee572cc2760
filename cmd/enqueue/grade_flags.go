package main

import (
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// gradingFlags are what a command line says about how a problem is judged.
type gradingFlags struct {
	tests   string
	checker string
	time    *sandbox.Seconds
	memory  *int64
	output  *int64
}

// The values of --checker.
const (
	checkerPackage = "package"
	checkerTestlib = "testlib"
)

// addTests registers the flag that chooses tests.
func (f *gradingFlags) addTests(flags *pflag.FlagSet) {
	flags.StringVar(&f.tests, "tests", "", "judge only tests that match `PATTERN`, such as sample or 'secret/0*'; * stops at a slash; there are no scores then")
}

func (f *gradingFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.checker, "checker", checkerPackage, "`KIND` of the package's output validators: package (exit codes 42 and 43) or testlib (0, 1, ...; called as checker input output answer)")
	flags.Var(&optional[sandbox.Seconds]{&f.time, "TIME", parseTime}, "time-limit", "CPU time on each test in every language, such as 2 or 500ms (default: the package's)")
	flags.Var(&optional[int64]{&f.memory, "SIZE", parseSize}, "memory", "memory limit, such as 512MiB (default: the package's, or 2GiB)")
	flags.Var(&optional[int64]{&f.output, "SIZE", parseSize}, "output-limit", "output limit, such as 1MiB (default: the package's, or 8MiB)")
}

// grading fits a problem to the installation and shows what is worth knowing. Its errors are the user's to mend.
func (f *gradingFlags) grading(a *app, s *settings, name string, p *problem.Problem) (*problem.Grading, error) {
	if f.checker != checkerPackage && f.checker != checkerTestlib {
		return nil, usagef("--checker %q: want %s or %s", f.checker, checkerPackage, checkerTestlib)
	}
	options := problem.GradingOptions{
		Languages: s.languages, Defaults: s.defaults, Maxima: s.maxima, Testlib: f.checker == checkerTestlib, Tests: f.tests,
	}
	if f.time != nil {
		options.Time = f.time.Duration()
	}
	if f.memory != nil {
		options.Memory = *f.memory
	}
	if f.output != nil {
		options.Output = *f.output
	}
	grading, err := p.Grading(options)
	if err != nil {
		return nil, usageError(inPackage(name, err))
	}
	a.showIssues(name, grading.Warnings)
	return grading, nil
}
