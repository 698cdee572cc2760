package problem

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// compileFactor makes room for a busy machine: the clock alone bounds a compiler.
	compileFactor = 3
	// The least that a worker takes. No language runs with less memory, and its floor is above it.
	leastMemory = 32 * mib
	leastTime   = 10 * time.Millisecond
)

// NewProgram makes a program of files that do not come from a package, such as a submission that
// somebody handed in. Name is for messages.
func NewProgram(name string, files []sandbox.File) Program {
	program := Program{Path: name, Name: name}
	for _, file := range files {
		program.Files = append(program.Files, File{Path: file.Path, Size: int64(len(file.Data)), Executable: file.Executable})
	}
	return program
}

// Own makes the sandbox's program of a submission of the package.
func (g *Grading) Own(submission Submission) (sandbox.Program, error) {
	files, err := g.problem.Files(submission.Files)
	if err != nil {
		return sandbox.Program{}, err
	}
	return g.Program(submission.Program, files)
}

// Program makes the sandbox's program of a submission whose files have been read. Errors are the submission's: its language
// is not known or not allowed, it is too large, or which file it starts with is not clear.
func (g *Grading) Program(program Program, files []sandbox.File) (sandbox.Program, error) {
	language, err := g.language(program, files)
	if err != nil {
		return sandbox.Program{}, err
	}
	if !g.problem.AllowsLanguage(namesOf(language)...) {
		return sandbox.Program{}, fmt.Errorf("the problem does not allow %s: want one of %v", language.Name, g.problem.Languages)
	}
	if size := program.size(); size > g.Limits.Code {
		return sandbox.Program{}, fmt.Errorf("the source is %d bytes: want at most %d", size, g.Limits.Code)
	}
	limits, err := g.overrides(language)
	if err != nil {
		return sandbox.Program{}, err
	}
	made, err := program.in(language, files)
	if err != nil {
		return sandbox.Program{}, err
	}
	included, err := g.problem.Files(nil, g.problem.IncludeFor(namesOf(language)...)...)
	if err != nil {
		return sandbox.Program{}, err
	}
	made.Files = over(made.Files, included)
	made.Limits = limits
	if _, err := g.languages.Prepare(made, g.defaults, g.maxima); err != nil {
		return sandbox.Program{}, err
	}
	return made, nil
}

// TimeLimit is the CPU time on one test of a submission in a language, by its name; 0 while there is none.
func (g *Grading) TimeLimit(language string) time.Duration {
	known, err := g.languages.Lookup(language)
	if err != nil {
		return g.Limits.Time
	}
	return g.Limits.ForLanguage(namesOf(known)...).Time
}

// TimeLimits returns limits with room for a CPU time on each test.
func (g *Grading) TimeLimits(limits sandbox.Overrides, cpu time.Duration) sandbox.Overrides {
	cpu = max(cpu, leastTime)
	cpuTime := sandbox.Seconds(min(cpu, g.maxima.CPUTime))
	wall := sandbox.Seconds(min(grade.WallBackstop(cpu), g.maxima.WallTime))
	limits.CPUTime, limits.WallTime = &cpuTime, &wall
	return limits
}

// overrides are the limits of a submission. The exceptions of its language may be more than the installation gives.
func (g *Grading) overrides(language sandbox.Language) (sandbox.Overrides, error) {
	l := g.Limits.ForLanguage(namesOf(language)...)
	if err := g.checkLimits(l); err != nil {
		return sandbox.Overrides{}, fmt.Errorf("language %s: %w", language.Name, err)
	}
	memory, output := max(l.Memory, leastMemory), l.Output
	limits := g.common()
	limits.Memory, limits.Output, limits.OutputKill = &memory, &output, &output
	return g.TimeLimits(limits, l.Time), nil
}

// common are the limits that submissions and validators share.
func (g *Grading) common() sandbox.Overrides {
	cpus := math.Min(1, g.maxima.CPUs)
	compile := sandbox.Seconds(min(compileFactor*g.Limits.CompileTime, g.maxima.CompileTime))
	return sandbox.Overrides{CPUs: &cpus, CompileTime: &compile}
}

// language finds the program's language by the names and contents of its files.
func (g *Grading) language(program Program, files []sandbox.File) (sandbox.Language, error) {
	return program.DetectLanguage(g.languages, func(file File) []byte {
		at := slices.IndexFunc(files, func(read sandbox.File) bool { return read.Path == file.Path })
		if at < 0 {
			return nil
		}
		return files[at].Data
	})
}

// in makes the sandbox's program, without limits.
func (p Program) in(language sandbox.Language, files []sandbox.File) (sandbox.Program, error) {
	main, err := p.MainFile(language)
	if err != nil {
		return sandbox.Program{}, err
	}
	if p.Entrypoint == "" && slices.Contains(language.Extensions, ".java") {
		main = javaStart(main, files)
	}
	made := sandbox.Program{Language: language.Name, Main: main, Files: slices.Clone(files)}
	if name := p.mainName(language, main, files); name != main {
		at := slices.IndexFunc(files, func(file sandbox.File) bool { return file.Path == main })
		made.Files[at].Path, made.Main = name, name
	}
	if _, has := language.Env["PYTHONUNBUFFERED"]; has {
		// Written line by line, the output of a submission costs eight times the CPU time.
		made.Env = map[string]string{"PYTHONUNBUFFERED": ""}
	}
	return made, nil
}

// over lays files over others; equal paths are replaced.
func over(files, others []sandbox.File) []sandbox.File {
	for _, other := range others {
		at := slices.IndexFunc(files, func(file sandbox.File) bool { return file.Path == other.Path })
		if at >= 0 {
			files[at] = other
		} else {
			files = append(files, other)
		}
	}
	return files
}

func namesOf(language sandbox.Language) []string {
	return append([]string{language.Name}, language.Aliases...)
}

// validator makes the sandbox's program of an output validator.
func (g *Grading) validator(program Program) (sandbox.Program, error) {
	if program.HasScript() {
		return sandbox.Program{}, fmt.Errorf("brings a build or run script, which is not run here: want source files in one language")
	}
	files, err := g.problem.Files(program.Files)
	if err != nil {
		return sandbox.Program{}, err
	}
	language, err := g.language(program, files)
	if err != nil {
		return sandbox.Program{}, err
	}
	made, err := program.in(language, files)
	if err != nil {
		return sandbox.Program{}, err
	}
	limits := g.common()
	memory, output := max(g.Limits.ValidationMemory, leastMemory), min(g.Limits.ValidationOutput, g.maxima.OutputKill)
	feedback := min(g.Limits.ValidationOutput, g.maxima.FileBytes)
	limits.Memory, limits.OutputKill, limits.FileBytes = &memory, &output, &feedback
	made.Limits = g.TimeLimits(limits, g.Limits.ValidationTime)
	_, err = g.languages.Prepare(made, g.defaults, g.maxima)
	return made, err
}
