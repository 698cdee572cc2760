package soak

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Recorder writes a history. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	file    *os.File
	problem error
}

// Create makes the file of a history.
func Create(path string) (*Recorder, error) {
	file, err := os.Create(path) //nolint:gosec // whoever starts the run names it
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	return &Recorder{file: file}, nil
}

// Add appends an event, at once and with the time of now if it has none. An error is returned by Close.
func (r *Recorder) Add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.At = e.At.UTC()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if r.problem == nil {
		r.problem = err
	}
}

// Close closes the file and says whether everything was written.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.problem, r.file.Close()); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// maxLine bounds a line of a history in bytes.
const maxLine = 16 << 20

// Read reads a history. A line that is no event is an error that names it.
func Read(from io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		e := Event{Line: len(events) + 1, Raw: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("read history: line %d: %w", e.Line, err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read history: after line %d: %w", len(events), err)
	}
	return events, nil
}

// ReadFile reads the file of a history.
func ReadFile(path string) (events []Event, err error) {
	file, err := os.Open(path) //nolint:gosec // whoever wants it checked names it
	if err != nil {
		return nil, fmt.Errorf("open history: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return Read(file)
}
