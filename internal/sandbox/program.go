package sandbox

import (
	"errors"
	"time"
)

// ErrCanceled is the cause with which a caller cancels the context of a run to
// say that somebody canceled the job: the run then ends with OutcomeCanceled. Any other
// end of the context is an error, and the job can run again elsewhere.
var ErrCanceled = errors.New("job canceled")

// Program is untrusted code and all that it needs to run.
type Program struct {
	// Language is a name or alias of a row of the language table.
	Language string `json:"language"`
	// Source is the main file's content. Either Source or Files holds the main file.
	Source Bytes `json:"source,omitempty"`
	// Main is the path of the main file, by default the language's own (main.py).
	Main string `json:"main,omitempty"`
	// Files are written to /workspace before the first step.
	Files []File `json:"files,omitempty"`
	// Args follow the program's own argv.
	Args []string `json:"args,omitempty"`
	// Env is added to the environment of the image and the language.
	Env map[string]string `json:"env,omitempty"`
	// Stdin is all that the program can read; none means end of file at once.
	Stdin Bytes `json:"stdin,omitempty"`
	// Outputs are the patterns (path.Match, with ** for any depth) of files below
	// /workspace that come back in Result.Files.
	Outputs []string `json:"outputs,omitempty"`
	// Limits are what the job asks for; unset ones have the operator's defaults.
	Limits Overrides `json:"limits,omitzero"`
	// Network asks for a network. The operator's configuration decides.
	Network bool `json:"network,omitempty"`
	// Reuse, if not empty, names a batch of one owner. Its programs may run one after the other in one
	// container, each with nothing left of the others, if the operator allows it.
	Reuse string `json:"reuse,omitempty"`

	// ID and Attempt name the container and its labels.
	ID      string `json:"-"`
	Attempt int    `json:"-"`
	// Tenant is on whose behalf the program runs, by which the operator's rules choose what it gets.
	Tenant string `json:"-"`
	// Hold, if not 0, is for a program that the caller keeps running for long, whatever the operator's maxima. It is
	// its wall-clock limit and makes the CPU time and the output of that time its limits. No job can ask for it.
	Hold time.Duration `json:"-"`
	// OnStart, if not nil, is called when the limits were verified and user code is about to start, once for
	// each container. It must not block.
	OnStart func(Enforcement) `json:"-"`
	// OnOutput, if not nil, is called in order with the kept head of each stream as it
	// comes, from one goroutine. It must not block for long.
	OnOutput func(Output) `json:"-"`
}

// File is one file for or from the workspace.
type File struct {
	// Path is relative to /workspace, with forward slashes.
	Path string `json:"path"`
	// Data is the whole content.
	Data Bytes `json:"data"`
	// Executable gives the file mode 0755 instead of 0644.
	Executable bool `json:"executable,omitempty"`
}

// StreamName is "stdout" or "stderr".
type StreamName string

// The two streams of a program.
const (
	Stdout StreamName = "stdout"
	Stderr StreamName = "stderr"
)

// Output is a piece of a stream of a running program.
type Output struct {
	// Step is "compile" or "run".
	Step string `json:"step"`
	// Stream tells which of the two streams Data belongs to.
	Stream StreamName `json:"stream"`
	// Data is what was written; the receiver may keep it.
	Data Bytes `json:"data"`
}
