package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// callView shows one call of a tool.
type callView struct {
	screen *screen
	label  string
	number int
	tool   string
	state  string
	began  time.Time
	// out and err show the program's streams; they are there once something came.
	out, err *gutter
}

// sortedCalls are the calls in the order in which they began.
func sortedCalls(calls map[string]*callView) []*callView {
	return slices.SortedFunc(maps.Values(calls), func(a, b *callView) int { return a.number - b.number })
}

func (c *callView) begin(call agent.ToolCall) {
	beside, block := describe(call)
	c.line(strong, "> "+c.tool, beside)
	for _, line := range block {
		c.line(plain, "    "+line, "")
	}
}

// line writes a line of this call, with something less important at its end.
func (c *callView) line(how style, text, beside string) {
	if beside != "" {
		beside = " " + c.screen.palette.paint(faint, beside)
	}
	line := c.screen.palette.paint(faint, c.label) + c.screen.palette.paint(how, text) + beside
	c.screen.line(strings.TrimRight(line, " "))
}

// progress shows a state or a piece of output.
func (c *callView) progress(e agent.Event) {
	switch p := e.Progress; {
	case p.Output != nil:
		c.stream(*p.Output).piece(p.Output.Data)
	case p.State != "":
		c.state = cli.Printable(p.State)
		if !c.screen.palette.on || c.hasOutput() { // else the status line of a terminal tells
			c.line(plain, "  "+c.state, "after "+seconds(e.Time.Sub(c.began)))
		}
	}
}

func (c *callView) hasOutput() bool { return c.out != nil || c.err != nil }

// stream is where a piece of output is shown. What a compiler says is no output of the program.
func (c *callView) stream(o sandbox.Output) *gutter {
	if o.Stream == sandbox.Stdout && o.Step != "compile" {
		if c.out == nil {
			c.out = newGutter(c.screen, c.label+"  | ", plain)
		}
		return c.out
	}
	if c.err == nil {
		c.err = newGutter(c.screen, c.label+"  ! ", bad)
	}
	return c.err
}

// status is the part of the status line for this call.
func (c *callView) status(now time.Time) string {
	return fmt.Sprintf("%s  %s %s %s", c.label, c.tool, c.state, seconds(now.Sub(c.began)))
}

// end shows what the result adds to the output that was there already, and how the call ended.
func (c *callView) end(e agent.Event) {
	for _, g := range []*gutter{c.out, c.err} {
		if g != nil {
			g.end()
		}
	}
	rest, notes := remains(e.Result.Text, c.hasOutput())
	for _, line := range excerpt(rest) {
		c.line(plain, c.screen.palette.paint(faint, "  | ")+line, "")
	}
	for _, image := range e.Result.Images {
		notes = slices.DeleteFunc(notes, func(note string) bool { return strings.HasPrefix(note, "["+image.Path+" is attached:") })
	}
	for _, note := range notes {
		c.line(notice, "  "+visibleLine(note), "")
	}
	for _, image := range e.Result.Images {
		c.line(good, "  + "+cli.Printable(image.Path), size(len(image.Data)))
	}
	c.verdict(e.Result)
}

// verdict is how the call ended, in a word.
func (c *callView) verdict(result *agent.ToolResult) {
	verdict, how := "ok", good
	switch {
	case exitCode.MatchString(result.Text):
		verdict, how = "exit code "+exitCode.FindStringSubmatch(result.Text)[1], bad
	case result.IsError:
		verdict, how = "failed", bad
	}
	beside := "in " + seconds(result.Duration)
	if result.JobID != "" {
		beside += ", job " + cli.Printable(result.JobID)
	}
	c.line(how, "  = "+verdict, beside)
}

// exitCode finds the line of a result that tells a program's exit code.
var exitCode = regexp.MustCompile(`(?m)^\[exit code (\d+)\]$`)

// remains splits a result's text into what the program's live output did not tell and the notes at its end.
func remains(text string, live bool) (rest string, notes []string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	end := len(lines)
	for end > 0 && strings.HasPrefix(lines[end-1], "[") && strings.HasSuffix(lines[end-1], "]") {
		end--
	}
	for _, note := range lines[end:] {
		if !exitCode.MatchString(note) {
			notes = append(notes, note)
		}
	}
	lines = lines[:end]
	if live {
		// A live interpreter shows values and tables that are no output.
		at := slices.IndexFunc(lines, func(line string) bool { return line == "[value]" || line == "[display]" })
		if at < 0 {
			return "", notes
		}
		lines = lines[at:]
	}
	return strings.Join(lines, "\n"), notes
}

// size writes a number of bytes for people.
func size(bytes int) string {
	if bytes < 10*1024 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/1024)
}
