package main

import (
	"io"

	"github.com/sandloop/sandloop/internal/cli"
)

// screen keeps apart what is written to the two outputs, which are one on a terminal: a line that
// somebody else began is ended first, and the status line is wiped away. What the model and programs wrote must
// come through [cli.Visible] or [cli.Disarmer]. It is not safe for concurrent use.
type screen struct {
	out, err io.Writer
	palette  palette // of err
	// width is that of the terminal, in characters.
	width func() int
	// owner is who began the line that the cursor is in, nil at the beginning of a line.
	owner any
	// drawn tells that there is a status line to wipe away.
	drawn bool
	// failed is why no more can be written to out.
	failed error
}

// say writes text to out on behalf of who, who goes on where they were if nobody wrote since.
func (s *screen) say(who any, text string) {
	if text == "" {
		return
	}
	s.take(who)
	if s.failed == nil {
		if _, err := io.WriteString(s.out, text); err != nil {
			s.failed = &cli.OutputError{Err: err}
		}
	}
	s.owner = who
	if text[len(text)-1] == '\n' {
		s.owner = nil
	}
}

// endText ends a line of out that who began.
func (s *screen) endText(who any) {
	if s.owner == who {
		s.say(who, "\n")
	}
}

// line writes a whole line to err.
func (s *screen) line(text string) {
	s.take(nil)
	s.show(text + "\n")
}

// show writes to err. There is nobody to tell that it failed.
func (s *screen) show(text string) { _, _ = io.WriteString(s.err, text) }

// take makes the cursor who's: in the line that they began, or at the beginning of one.
func (s *screen) take(who any) {
	s.wipe()
	if s.owner != nil && s.owner != who {
		s.show("\n")
		s.owner = nil
	}
}

// status draws the status line if the cursor is at the beginning of a line of a terminal. It is cut so that the
// terminal does not break it, since only one line is wiped away.
func (s *screen) status(text string) {
	if !s.palette.on || s.owner != nil {
		return
	}
	s.wipe()
	if text != "" {
		line := []rune(text)
		s.show(s.palette.paint(faint, string(line[:min(len(line), max(s.width()-1, 0))])))
		s.drawn = true
	}
}

func (s *screen) wipe() {
	if s.drawn {
		s.show("\r\x1b[K")
		s.drawn = false
	}
}
