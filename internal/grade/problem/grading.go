package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Grading is how submissions to a problem are judged on an installation. It uses the problem, which
// must stay open. Reading it is safe for several goroutines.
type Grading struct {
	// Limits are those of the problem, with defaults where it gives none. Time is 0 when neither the
	// package nor the options give one; it must be set before the first Program.
	Limits Limits
	// Suite refers to Blobs, all of which must be where the judge finds them.
	Suite grade.Suite
	Blobs []Blob
	// Warnings are worth reading and hinder nothing.
	Warnings []Issue

	problem          *Problem
	languages        *sandbox.Languages
	defaults, maxima sandbox.Limits
}

// GradingOptions are what the problem does not say.
type GradingOptions struct {
	Languages *sandbox.Languages
	// Defaults and Maxima are the installation's.
	Defaults, Maxima sandbox.Limits
	// Testlib tells that the output validators are testlib checkers, as Polygon has them.
	Testlib bool
	// Tests is a pattern, as in submissions.yaml, of the tests to judge; "" is all. A part of the tests
	// has neither the problem's groups nor scores: all must be accepted.
	Tests string
	// Time, Memory and Output replace the problem's own limits, and those of its languages; 0 does not.
	Time           time.Duration
	Memory, Output int64
}

// Grading reads the test data once and makes what jobs need of the problem. What the package asks for is
// given or refused, since another limit could be another verdict; what it leaves open is at most what the installation
// allows. The error is an *Invalid when the package asks for what there is not.
func (p *Problem) Grading(o GradingOptions) (*Grading, error) {
	if p.MultiPass {
		return nil, &Invalid{Issues: []Issue{{File: "problem.yaml", Message: "multi-pass problems are not supported"}}}
	}
	g := &Grading{problem: p, languages: o.Languages, defaults: o.Defaults, maxima: o.Maxima, Limits: p.limits(o)}
	if err := g.checkLimits(g.Limits); err != nil {
		return nil, &Invalid{Issues: []Issue{{File: "problem.yaml", Message: err.Error()}}}
	}
	g.cutLimits()
	checker, err := g.checker(o.Testlib)
	if err != nil {
		return nil, err
	}
	g.Suite = grade.Suite{Name: p.Name(), Checker: checker}
	if err := g.readTests(o); err != nil {
		return nil, err
	}
	if err := g.Suite.Validate(); err != nil {
		return nil, &Invalid{Issues: []Issue{{Message: err.Error()}}}
	}
	return g, nil
}

// limits are the problem's with the options' and the defaults put in.
func (p *Problem) limits(o GradingOptions) Limits {
	l := p.Limits
	typical := TypicalLimits()
	typical.Memory = min(typical.Memory, o.Maxima.Memory)
	typical.Output = min(typical.Output, o.Maxima.Output)
	typical.ValidationMemory = min(typical.ValidationMemory, o.Maxima.Memory)
	l.Languages = map[string]LanguageLimits{}
	for name, exception := range p.Limits.Languages {
		if o.Time > 0 {
			exception.Time, exception.TimeFactor = 0, 0
		}
		if o.Memory > 0 {
			exception.Memory = 0
		}
		l.Languages[name] = exception
	}
	l.Time, l.Memory, l.Output = either(o.Time, l.Time), either(o.Memory, l.Memory), either(o.Output, l.Output)
	return l.WithDefaults(typical)
}

// checkLimits refuses limits of submissions that the installation does not give.
func (g *Grading) checkLimits(l Limits) error {
	var errs []error
	if highest := min(g.maxima.CPUTime, g.maxima.WallTime); l.Time > highest {
		errs = append(errs, fmt.Errorf("the time limit of %v is not allowed here: want at most %v", l.Time, highest))
	}
	if l.Memory > g.maxima.Memory {
		errs = append(errs, fmt.Errorf("the memory limit of %d MiB is not allowed here: want at most %d", l.Memory/mib, g.maxima.Memory/mib))
	}
	if l.Output > g.maxima.Output {
		errs = append(errs, fmt.Errorf("the output limit of %d MiB is not allowed here: want at most %d", l.Output/mib, g.maxima.Output/mib))
	}
	return errors.Join(errs...)
}

// cutLimits lowers limits of compiler and validator to what the installation allows. They
// are there to end what hangs, and running into one of them is seen: it is CE or IE.
func (g *Grading) cutLimits() {
	warn := func(key, asked, allowed any) {
		g.Warnings = append(g.Warnings, Issue{File: "problem.yaml", Message: fmt.Sprintf("limits: %s: %v is cut to %v, the most that is allowed here", key, asked, allowed)})
	}
	if highest := min(g.maxima.CPUTime, g.maxima.WallTime); g.Limits.ValidationTime > highest {
		warn("validation_time", g.Limits.ValidationTime, highest)
		g.Limits.ValidationTime = highest
	}
	if g.Limits.ValidationMemory > g.maxima.Memory {
		warn("validation_memory", fmt.Sprint(g.Limits.ValidationMemory/mib, " MiB"), fmt.Sprint(g.maxima.Memory/mib, " MiB"))
		g.Limits.ValidationMemory = g.maxima.Memory
	}
	if g.Limits.CompileTime > g.maxima.CompileTime {
		warn("compilation_time", g.Limits.CompileTime, g.maxima.CompileTime)
		g.Limits.CompileTime = g.maxima.CompileTime
	}
}

// checker makes the programs of the output validators.
func (g *Grading) checker(testlib bool) (grade.Checker, error) {
	p := g.problem
	checker := grade.Checker{Kind: grade.CheckValidator, CustomScore: p.CustomScore}
	switch {
	case testlib && (p.Interactive || !p.CustomValidation):
		return checker, &Invalid{Issues: []Issue{{File: "problem.yaml", Message: "the checker testlib is for problems with an output validator that are not interactive"}}}
	case !p.CustomValidation:
		return grade.Checker{Kind: grade.CheckTokens}, nil
	case p.Interactive:
		checker.Kind = grade.CheckInteractive
	case testlib:
		checker.Kind = grade.CheckTestlib
	}
	var issues []Issue
	for _, validator := range p.OutputValidators {
		program, err := g.validator(validator)
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				issues = append(issues, Issue{File: validator.Path, Message: line})
			}
			continue
		}
		checker.Programs = append(checker.Programs, program)
	}
	if issues != nil {
		return checker, &Invalid{Issues: issues}
	}
	return checker, nil
}
