package sandbox

import (
	"fmt"
	"math"
	"path"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Language is a row of the language table: how a program in it is compiled and run.
// Argv elements and environment values may hold the placeholders that Plan fills.
type Language struct {
	// Name is the row's key; Aliases are other names for it.
	Name    string
	Aliases []string
	// Extensions, with their dot, and Interpreters, from a #! line, tell the language of a file.
	Extensions   []string
	Interpreters []string
	// Image is any image that has the language's tools on its PATH.
	Image string
	// File is the name that the source gets when the job gives none.
	File string
	// Compile and Run are argv; an empty Compile means that there is no compile step.
	Compile, Run []string
	// Env is added to the image's environment.
	Env map[string]string
	// HeapFraction is the part of the memory limit that {heap_mb} stands for.
	HeapFraction float64
	// Floors are the limits below which the language's own tools do not start.
	Floors Floors
	// CheckSource is a program that prints 42 and Version an argv that prints the version.
	CheckSource string
	Version     []string
}

// Floors raise a job's limits to what a language needs; 0 is no floor.
type Floors struct {
	Memory      int64
	PIDs        int
	CPUs        float64
	CompileTime time.Duration
}

// Raise returns limits with each that is below its floor raised to it.
func (f Floors) Raise(limits Limits) Limits {
	limits.Memory = max(limits.Memory, f.Memory)
	limits.PIDs = max(limits.PIDs, f.PIDs)
	limits.CPUs = math.Max(limits.CPUs, f.CPUs)
	limits.CompileTime = max(limits.CompileTime, f.CompileTime)
	return limits
}

// Plan is what is executed for one program: argv without any shell.
type Plan struct {
	// Compile is empty when the language has no compile step.
	Compile, Run []string
	// Env holds KEY=value, sorted; it comes after the image's environment.
	Env []string
	// Main is the path of the main file below /workspace.
	Main string
}

// OutPath is where a compile step puts the program, below /workspace: a file, or a folder for
// languages that build many. It is neither an input nor an output of a job.
const OutPath = ".sandloop-out"

// Plan fills the placeholders of the row for a program under limits: {file} the main
// file, {name} its name without folder and extension, {files} every file of the program with one of the language's extensions (an argv
// element of its own), {out} the path of the built program, {memory_mb} and {heap_mb} the
// memory limit and the heap's part of it in MiB, {cpus} whole processors, at least 1.
func (l Language) Plan(p Program, limits Limits) Plan {
	mainFile := p.Main
	if mainFile == "" {
		mainFile = l.File
	}
	expand := strings.NewReplacer(
		"{file}", mainFile,
		"{name}", strings.TrimSuffix(path.Base(mainFile), path.Ext(mainFile)),
		"{out}", "./"+OutPath,
		"{memory_mb}", strconv.FormatInt(limits.Memory/MiB, 10),
		"{heap_mb}", strconv.FormatInt(max(1, int64(float64(limits.Memory/MiB)*l.HeapFraction)), 10),
		"{cpus}", strconv.Itoa(max(1, int(math.Ceil(limits.CPUs)))),
	)
	plan := Plan{Main: mainFile}
	sources := l.sources(p, mainFile)
	argv := func(row []string) (filled []string) {
		for _, arg := range row {
			if arg == "{files}" {
				filled = append(filled, sources...)
				continue
			}
			filled = append(filled, expand.Replace(arg))
		}
		return filled
	}
	plan.Compile = argv(l.Compile)
	plan.Run = append(argv(l.Run), p.Args...)
	for key, value := range l.Env {
		if _, overridden := p.Env[key]; !overridden {
			plan.Env = append(plan.Env, key+"="+expand.Replace(value))
		}
	}
	for key, value := range p.Env {
		plan.Env = append(plan.Env, key+"="+value)
	}
	sort.Strings(plan.Env)
	return plan
}

// sources lists the main file and the other files with one of the language's extensions.
func (l Language) sources(p Program, mainFile string) []string {
	files := []string{mainFile}
	for _, file := range p.Files {
		if file.Path != mainFile && l.hasExtension(file.Path) {
			files = append(files, file.Path)
		}
	}
	return files
}

func (l Language) hasExtension(name string) bool {
	extension := path.Ext(name)
	for _, known := range l.Extensions {
		if extension == known {
			return true
		}
	}
	return false
}

// UnknownLanguageError tells which names would have been right.
type UnknownLanguageError struct {
	Name  string
	Known []string
}

// Error lists the languages that exist.
func (e *UnknownLanguageError) Error() string {
	return fmt.Sprintf("language %q is unknown: want one of %s", e.Name, strings.Join(e.Known, ", "))
}
