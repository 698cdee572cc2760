package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// audience is who hears of a run. An error of hear means that there is nobody left, and ends the run.
type audience interface {
	hear(agent.Event) error
	// note says something of ours in between.
	note(format string, args ...any)
	close()
}

// events writes a run as lines of JSON.
type events struct {
	app    *app
	failed error
}

func (l *events) hear(e agent.Event) error {
	if l.failed != nil {
		return l.failed
	}
	line, err := json.Marshal(e)
	if err != nil {
		l.failed = fmt.Errorf("encode event %s: %w", e.Kind, err)
	} else if _, err := l.app.stdout.Write(append(line, '\n')); err != nil {
		l.failed = &cli.OutputError{Err: err}
	}
	return l.failed
}

func (l *events) note(format string, args ...any) { l.app.say(format, args...) }

func (l *events) close() {}

// answer writes the last words of a run and nothing else.
type answer struct{ app *app }

func (q *answer) hear(e agent.Event) error {
	if e.Kind != agent.EventEnd || e.Stop != agent.StopAnswer {
		return nil
	}
	text := e.Transcript.Messages[len(e.Transcript.Messages)-1].Text
	if _, err := io.WriteString(q.app.stdout, cli.Visible(text)+"\n"); err != nil {
		return &cli.OutputError{Err: err}
	}
	return nil
}

func (q *answer) note(string, ...any) {}

func (q *answer) close() {}
