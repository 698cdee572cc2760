package sessions

import (
	"context"
	"sync"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// interpreter stands for a live interpreter.
type interpreter struct {
	program sandbox.Program
	// files are what /workspace holds.
	files map[string]string
	// cell, if not nil, is what a cell does; its result goes with the changes to files that it makes.
	cell  func(ctx context.Context, cell live.Cell) (live.Outcome, error)
	cells []live.Cell

	once   sync.Once
	done   chan struct{}
	reason string
	closed chan struct{}
}

func (b *bundle) start(_ context.Context, options live.Options) (Interpreter, error) {
	if b.startError != nil {
		return nil, b.startError
	}
	i := &interpreter{program: options.Program, files: texts(options.Files), done: make(chan struct{}), closed: make(chan struct{})}
	b.started.Lock()
	b.interpreters = append(b.interpreters, i)
	b.started.Unlock()
	return i, nil
}

// Run does to the files what the cell says, and has as its value how many cells there were.
func (i *interpreter) Run(ctx context.Context, cell live.Cell) (live.Outcome, error) {
	i.cells = append(i.cells, cell)
	for _, name := range cell.Delete {
		delete(i.files, name)
		if name == "." {
			clear(i.files)
		}
	}
	for _, file := range cell.Write {
		i.files[file.Path] = string(file.Data)
	}
	if i.cell == nil {
		return fine(live.Changes{}), nil
	}
	outcome, err := i.cell(ctx, cell)
	for _, name := range outcome.Changes.Deleted {
		delete(i.files, name)
	}
	for _, file := range outcome.Changes.Written {
		i.files[file.Path] = string(file.Data)
	}
	return outcome, err
}

// fine is the outcome of a cell that did not fail.
func fine(changes live.Changes) live.Outcome {
	return live.Outcome{Result: sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Collected: true}, Changes: changes}
}

func (i *interpreter) Close() {
	i.die("closed")
	select {
	case <-i.closed:
	default:
		close(i.closed)
	}
}

func (i *interpreter) die(reason string) { i.once.Do(func() { i.reason = reason; close(i.done) }) }

func (i *interpreter) Done() <-chan struct{} { return i.done }

func (i *interpreter) Reason() string { return i.reason }

// isClosed tells whether the container is gone.
func (i *interpreter) isClosed() bool {
	select {
	case <-i.closed:
		return true
	default:
		return false
	}
}
