package live

import (
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// Cell is one piece of code for a live interpreter.
type Cell struct {
	// Source is the code, Name what tracebacks call it.
	Source string
	Name   string
	// Stdin is what input() reads; at its end it reads end of file.
	Stdin []byte
	// WallTime bounds the cell. At the limit it is interrupted, and the interpreter ended if that does not help
	// within InterruptGrace.
	WallTime time.Duration
	// Output is how many bytes of each stream are kept, head and tail.
	Output int64
	// Write are files to put into /workspace before the cell runs, and Delete paths to remove before that; . is
	// everything in it.
	Write  []sandbox.File
	Delete []string
	// OnOutput is as sandbox.Program's.
	OnOutput func(sandbox.Output)
}

// InterruptGrace is how long a cell may take to end after it was interrupted.
const InterruptGrace = time.Second

// Outcome is what became of a cell.
type Outcome struct {
	// Result has outcome, streams, times and, for figures, Files. Collected tells that Changes are complete. An uncaught exception is OutcomeNonzeroExit with
	// exit code 1 and the traceback at the end of Stderr.
	Result sandbox.Result
	// Report is the cell's; Started and Lost are the caller's to fill.
	Report workspace.LiveReport
	// Changes is what the cell did to /workspace since the cell before it or the start.
	Changes Changes
}

// Changes is the difference that a cell made to the files in /workspace.
type Changes struct {
	// Written are files that are new or different, whole; Deleted are paths that are gone.
	Written []sandbox.File
	Deleted []string
	// Refused are files that could not be read or kept, with the reason.
	Refused []sandbox.RefusedFile
}
