package explain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// facts are a call with its texts made legible: what conditions and texts look at.
type facts struct {
	Call
	sections []*section
	// replaced is how many bytes of them are no text.
	replaced int
}

// section is one of the texts of a call.
type section struct {
	// title is empty for stdout, which needs none.
	title  string
	stream sandbox.Stream
	text   string
	// shown of the bytes that the program wrote are in text.
	shown int64
}

// read makes the sections within a budget.
func (f *facts) read(budget int) {
	if compile := f.Result.Compile; compile != nil {
		f.add("compiler", compile.Stdout)
		f.add("compiler", compile.Stderr)
	}
	f.add("", f.Result.Stdout)
	f.add("stderr", f.Result.Stderr)
	live := f.live()
	for _, display := range live.Displays {
		if display.Path == "" {
			f.add("display", whole(display.Text))
		}
	}
	f.add("value", whole(live.Value))
	sizes := make([]int, len(f.sections))
	for i, s := range f.sections {
		sizes[i] = len(s.stream.Data)
	}
	for i, limit := range share(sizes, budget) {
		s := f.sections[i]
		var replaced int
		s.text, s.shown = excerpt(s.stream, limit)
		s.text, replaced = legible(s.text)
		f.replaced += replaced
	}
}

// add takes a stream, unless nothing came on it.
func (f *facts) add(title string, stream sandbox.Stream) {
	if stream.Total > 0 {
		f.sections = append(f.sections, &section{title: title, stream: stream})
	}
}

func whole(text string) sandbox.Stream {
	return sandbox.Stream{Data: sandbox.Bytes(text), Total: int64(len(text))}
}

// live is the report of a live interpreter, an empty one if there is none.
func (f *facts) live() workspace.LiveReport {
	if f.Session == nil || f.Session.Live == nil {
		return workspace.LiveReport{}
	}
	return *f.Session.Live
}

// output joins the sections and what can be said in a few words.
func (f *facts) output() string {
	var lines []string
	for _, s := range f.sections {
		if s.title != "" {
			lines = append(lines, "["+s.title+"]")
		}
		lines = append(lines, strings.TrimSuffix(s.text, "\n"))
	}
	if code := f.Result.ExitCode; code > 0 {
		lines = append(lines, fmt.Sprintf("[exit code %d]", code))
	}
	return strings.Join(append(lines, f.files()...), "\n")
}

// listed bounds the names in a line.
const listed = 20

// files are lines on what changed in the session's workspace.
func (f *facts) files() (lines []string) {
	if f.Session == nil {
		return nil
	}
	for _, change := range []struct {
		verb  string
		paths []string
	}{{"written", f.Session.Written}, {"deleted", f.Session.Deleted}} {
		if len(change.paths) > 0 {
			lines = append(lines, fmt.Sprintf("[files %s: %s]", change.verb, list(change.paths)))
		}
	}
	return lines
}

// list joins names, the first of many.
func list(names []string) string {
	shown := make([]string, 0, listed)
	for _, name := range names[:min(len(names), listed)] {
		name, _ = legible(name)
		shown = append(shown, strings.ReplaceAll(name, "\n", "�"))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// find returns the first group of the first match of a pattern in what the program wrote, and whether there is one.
func (f *facts) find(pattern *regexp.Regexp) (string, bool) {
	for _, s := range f.sections {
		if s.title == "display" || s.title == "value" {
			continue
		}
		if match := pattern.FindSubmatch(s.stream.Data); match != nil {
			name, _ := legible(string(match[len(match)-1]))
			return name, true
		}
	}
	return "", false
}

// says is the condition that the program wrote something that a pattern matches.
func says(pattern *regexp.Regexp) func(*facts) bool {
	return func(f *facts) bool {
		_, found := f.find(pattern)
		return found
	}
}
