package toolbox

import (
	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/explain"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// collected is what a job wrote until now, while it is passed on. The worker sends the beginning of each stream only, so
// it is bounded.
type collected struct {
	progress    func(agent.Progress) // may be nil
	result      sandbox.Result
	compilation sandbox.Step
}

// take keeps output and passes everything on.
func (c *collected) take(p agent.Progress) {
	if p.State == runsAgain {
		c.result, c.compilation = sandbox.Result{}, sandbox.Step{}
	}
	if p.Output != nil {
		streams := map[stream]*sandbox.Stream{
			{"compile", sandbox.Stdout}: &c.compilation.Stdout, {"compile", sandbox.Stderr}: &c.compilation.Stderr,
			{"run", sandbox.Stdout}: &c.result.Stdout, {"run", sandbox.Stderr}: &c.result.Stderr,
		}
		if into, known := streams[stream{p.Output.Step, p.Output.Stream}]; known {
			into.Data = append(into.Data, p.Output.Data...)
			into.Total += int64(len(p.Output.Data))
		}
	}
	if c.progress != nil {
		c.progress(p)
	}
}

// describe puts the output so far into words, and ends with the end of a line if there is any.
func (c *collected) describe(w work, budget int) string {
	result := c.result
	result.Compile = &c.compilation
	text := explain.Describe(explain.Call{Language: w.language, Result: result}, budget).Output
	if text != "" {
		text += "\n"
	}
	return text
}
