package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// writeTime bounds how long the files of a cell may take until its code runs.
	writeTime = time.Minute
	// lastWords is what a driver has to send what a cell has done to the files and to go, after its interpreter has.
	lastWords = 15 * time.Second
)

// stop is why a cell was interrupted.
type stop string

const (
	stopWall   stop = "wall"
	stopCancel stop = "cancel"
)

// Run runs a cell, after those that were given before. Whatever the code does is an Outcome, and Report.Ended then
// says whether the interpreter lives on. When ctx ends with the cause [sandbox.ErrCanceled] the cell is interrupted.
// An error is our own failure, or the cause with which ctx ended; the interpreter is then gone, unless the cell never began because of
// ctx. It wraps ErrEnded if the interpreter had ended before.
func (i *Interpreter) Run(ctx context.Context, cell Cell) (Outcome, error) {
	select {
	case <-i.turn:
	case <-ctx.Done():
		return Outcome{}, fmt.Errorf("wait for live interpreter: %w", context.Cause(ctx))
	}
	defer func() { i.turn <- struct{}{} }()
	c := i.begin(cell)
	if c == nil {
		<-i.done
		return Outcome{}, fmt.Errorf("%w: %s", ErrEnded, i.Reason())
	}
	from := time.Now()
	i.give(c)
	stopped, err := i.await(ctx, c)
	i.mu.Lock()
	i.current = nil
	i.mu.Unlock()
	if err != nil {
		return Outcome{}, fmt.Errorf("run cell %s: %w", cell.Name, err)
	}
	return i.outcome(c, stopped, time.Since(from))
}

// begin makes a cell the current one, unless the interpreter has ended.
func (i *Interpreter) begin(cell Cell) *current {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.done:
		return nil
	default:
	}
	if i.gone || i.closed != nil {
		return nil
	}
	i.cells++
	i.current = newCurrent(i.cells, cell)
	return i.current
}

// give sends a cell to the driver.
func (i *Interpreter) give(c *current) {
	var frames [][]byte
	for _, path := range c.cell.Delete {
		frames = append(frames, encode(message{Type: typeDelete, Path: path}))
	}
	for _, file := range c.cell.Write {
		for data, more := []byte(file.Data), true; more; {
			piece := data[:min(len(data), pieceSize)]
			data = data[len(piece):]
			more = len(data) > 0
			frames = append(frames, encode(message{Type: typeWrite, Path: file.Path, Executable: file.Executable, More: more}, piece))
		}
	}
	source := []byte(c.cell.Source)
	frames = append(frames, encode(message{Type: typeRun, Cell: c.id, Name: c.cell.Name, Source: len(source)}, source, c.cell.Stdin))
	i.input.put(frames...)
}

// await returns when the cell has ended or the interpreter is gone, with why it was interrupted. The error is that of a ctx
// that nobody canceled; the interpreter is then gone.
func (i *Interpreter) await(ctx context.Context, c *current) (stopped stop, err error) {
	wall := time.NewTimer(c.cell.WallTime)
	defer wall.Stop()
	began := c.began
	if len(c.cell.Write)+len(c.cell.Delete) > 0 {
		wall.Reset(c.cell.WallTime + writeTime)
	}
	canceled := ctx.Done()
	interrupt := func(why stop) {
		stopped, canceled = why, nil
		i.input.put(encode(message{Type: typeInterrupt, Cell: c.id}))
		wall.Reset(InterruptGrace)
	}
	killed := false
	for {
		select {
		case <-c.finished:
			i.awaitEnd(c)
			return stopped, nil
		case <-i.done:
			return stopped, nil
		case <-began:
			began = nil
			if stopped == "" {
				wall.Reset(c.cell.WallTime)
			}
		case <-canceled:
			if !errors.Is(context.Cause(ctx), sandbox.ErrCanceled) {
				i.end(context.Cause(ctx))
				<-i.done
				return "", context.Cause(ctx)
			}
			interrupt(stopCancel)
		case <-wall.C:
			switch {
			case stopped == "":
				interrupt(stopWall)
			case !killed:
				killed = true
				i.input.put(encode(message{Type: typeKill, Cell: c.id}))
				wall.Reset(lastWords)
			default:
				i.end(errSilent)
			}
		}
	}
}

// awaitEnd waits for the end of a driver whose interpreter has ended.
func (i *Interpreter) awaitEnd(c *current) {
	if c.end.Type != typeGone && c.end.Status != statusExit {
		return
	}
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case <-i.done:
		return
	case <-late.C:
		i.end(errSilent)
	}
	<-i.done
}
