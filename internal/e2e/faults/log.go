package faults

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// Log takes the output of a process while others read it.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends; it never fails.
func (l *Log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(data)
}

// String is all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Line is a line of a worker's log.
type Line struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	// Text is the whole line.
	Text string `json:"-"`
}

// Lines are the lines that are JSON with a message, in order.
func (l *Log) Lines() []Line {
	var lines []Line
	for text := range strings.Lines(l.String()) {
		var line Line
		if json.Unmarshal([]byte(text), &line) == nil && line.Message != "" {
			line.Text = strings.TrimSpace(text)
			lines = append(lines, line)
		}
	}
	return lines
}

// Count tells how many lines have the message.
func (l *Log) Count(message string) (n int) {
	for _, line := range l.Lines() {
		if line.Message == message {
			n++
		}
	}
	return n
}
