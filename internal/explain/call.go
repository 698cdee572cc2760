package explain

import (
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// DefaultBudget is how many bytes of output a description has when nobody says otherwise.
const DefaultBudget = 24 << 10

// Call is what a model had run and what became of it. Names of tools and arguments in the notes are those of
// internal/agent/toolbox.
type Call struct {
	// Language is a name in the language table, empty if it is not known any more.
	Language string
	// Argv is set for a command that was run instead of code.
	Argv []string
	// Live tells that the code was meant for a live interpreter.
	Live bool
	// Result is the job's, and Session its report on the session, nil without one.
	Result  sandbox.Result
	Session *workspace.Report
}

// Description is a Call in words.
type Description struct {
	// Output is what the program wrote and showed, with the exit code when it is not 0.
	Output string
	// Notes are what the output does not tell, in the order of the table.
	Notes []Note
}

// Note is one thing that a model would not know from the output.
type Note struct {
	Kind Kind
	Text string
}

// Describe puts a call into words. Of what it wrote about budget bytes are shown, DefaultBudget when 0: head and tail
// of each stream, cut at ends of lines. Notes are never cut.
func Describe(call Call, budget int) Description {
	if budget == 0 {
		budget = DefaultBudget
	}
	f := &facts{Call: call}
	f.read(budget)
	description := Description{Output: f.output()}
	for _, row := range table {
		if row.when(f) {
			description.Notes = append(description.Notes, Note{Kind: row.kind, Text: row.text(f)})
		}
	}
	return description
}

// String is the whole description, each note in a line of its own in square brackets.
func (d Description) String() string {
	var b strings.Builder
	b.WriteString(d.Output)
	for _, note := range d.Notes {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + note.Text + "]")
	}
	return b.String()
}

// Has tells whether there is a note of a kind.
func (d Description) Has(kind Kind) bool {
	for _, note := range d.Notes {
		if note.Kind == kind {
			return true
		}
	}
	return false
}
