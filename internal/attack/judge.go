package attack

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// escaped begins the line with which a program says that it got what it wanted.
const escaped = "ESCAPED: "

// Problems tells from the result of its program why an attack was not stopped, or not seen to be stopped; nil is well. What it did
// to the host the result cannot tell.
func (a *Attack) Problems(r sandbox.Result) (problems []string) {
	problems = append(problems, boasts(r)...)
	lost := a.onGVisor && slices.Contains(a.GVisor, r.Outcome)
	if !lost && !slices.Contains(a.Outcomes, r.Outcome) {
		problems = append(problems, fmt.Sprintf("the outcome is %s (%s): want %v", r.Outcome, r.Message, a.Outcomes))
	}
	said := r.Stdout.Data
	if r.Outcome == sandbox.OutcomeCompileError && r.Compile != nil {
		said = append(slices.Clone(r.Compile.Stdout.Data), r.Compile.Stderr.Data...)
	}
	if !lost && !a.Silent && !a.says.Match(said) {
		problems = append(problems, fmt.Sprintf("it did not say %q but %.300q, and on stderr %.300q", a.says, said, r.Stderr.Data))
	}
	if limit := r.Enforcement.MemoryBytes; limit > 0 && !a.onGVisor && r.PeakMemory > limit {
		problems = append(problems, fmt.Sprintf("it had %d bytes of memory: want at most %d", r.PeakMemory, limit))
	}
	if view := r.Enforcement.KernelView; view.UID == 0 || view.GID == 0 || strings.Trim(view.Capabilities, "0") != "" {
		problems = append(problems, fmt.Sprintf("it ran as %d:%d with the capabilities %q: want no root and none", view.UID, view.GID, view.Capabilities))
	}
	return problems
}

// boasts are the lines in which a program says that it was not stopped, in any of its streams.
func boasts(r sandbox.Result) (lines []string) {
	streams := []sandbox.Stream{r.Stdout, r.Stderr}
	if r.Compile != nil {
		streams = append(streams, r.Compile.Stdout, r.Compile.Stderr)
	}
	for _, stream := range streams {
		scanner := bufio.NewScanner(strings.NewReader(string(stream.Data)))
		scanner.Buffer(nil, len(stream.Data)+1)
		for scanner.Scan() {
			if what, found := strings.CutPrefix(scanner.Text(), escaped); found {
				lines = append(lines, fmt.Sprintf("%.200s", strings.ToValidUTF8(what, "?")))
			}
		}
	}
	return lines
}
