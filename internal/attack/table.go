package attack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Verdict is what became of an attack in a mode.
type Verdict string

// The verdicts. The zero value is NotRun.
const (
	// Stopped means that it was run, did not get what it wanted and left nothing.
	Stopped Verdict = "stopped"
	// NotStopped means that it got something, or that it was not seen to be stopped.
	NotStopped Verdict = "NOT STOPPED"
	// NotRun means that it was not tried.
	NotRun Verdict = ""
)

// Cell is what became of an attack in a mode, and why where that is not Stopped.
type Cell struct {
	Verdict Verdict
	Why     string
}

// Report is a run of the suite.
type Report struct {
	// Versions is one line that names what was attacked.
	Versions string
	// Modes are the columns and Attacks the rows.
	Modes   []Mode
	Attacks []Attack
	// Cells are by the name of the attack and then by that of the mode.
	Cells map[string]map[string]Cell
}

// Mode is a way to run programs.
type Mode struct {
	// Name is the mode's in the manifest, and Title that of its column.
	Name, Title string
	// Absent, if not empty, says why it could not be run here.
	Absent string
}

// Markdown is the table, with what was not stopped and what was not run below it.
func (r *Report) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d attacks against %s.\n\n| attack | tries | control |", len(r.Attacks), r.Versions)
	for _, mode := range r.Modes {
		fmt.Fprintf(&out, " %s |", mode.Title)
	}
	out.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(r.Modes)) + "\n")
	for _, a := range r.Attacks {
		fmt.Fprintf(&out, "| %s: %s | %s | %s |", a.Class, a.Name, a.Tries, a.Control)
		for _, mode := range r.Modes {
			fmt.Fprintf(&out, " %s |", r.Cells[a.Name][mode.Name].show())
		}
		out.WriteString("\n")
	}
	r.writeNotes(&out)
	return out.String()
}

func (c Cell) show() string {
	switch c.Verdict {
	case Stopped:
		return "stopped"
	case NotStopped:
		return "**NOT STOPPED**"
	default:
		return "not run"
	}
}

func (r *Report) writeNotes(out *strings.Builder) {
	var notes []string
	for _, mode := range r.Modes {
		if mode.Absent != "" {
			notes = append(notes, fmt.Sprintf("- not run, %s: %s", mode.Title, mode.Absent))
		}
	}
	for _, a := range r.Attacks {
		notes = append(notes, r.notStopped(a)...)
	}
	if len(notes) > 0 {
		out.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
}

// notStopped has one note for each reason why an attack is not stopped: the manifest's, or else what was seen.
func (r *Report) notStopped(a Attack) (notes []string) {
	titles := map[string][]string{}
	var reasons []string
	for _, mode := range r.Modes {
		cell := r.Cells[a.Name][mode.Name]
		if cell.Verdict != NotStopped {
			continue
		}
		why := cmp.Or(a.Known[mode.Name], cell.Why)
		if titles[why] == nil {
			reasons = append(reasons, why)
		}
		titles[why] = append(titles[why], mode.Title)
	}
	for _, why := range reasons {
		notes = append(notes, fmt.Sprintf("- not stopped, %s (%s): %s", a.Name, strings.Join(titles[why], "; "), oneLine(why)))
	}
	return notes
}

// oneLine makes text of a program fit for a document: no links, elements, cells or code, no line feeds, no more than a few hundred bytes.
// Underscores stay, which the names of outcomes have.
func oneLine(text string) string {
	text = strings.ToValidUTF8(fmt.Sprintf("%.400s", text), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case strings.ContainsRune("<>[]`|*", r):
			return '.'
		}
		return r
	}, text)
}

// The markers between which a document holds a table.
const (
	BeginMarker = "<!-- attacks: written by scripts/attack.sh --write -->"
	EndMarker   = "<!-- attacks: end -->"
)

// Splice returns the document with text in place of what is between its markers. The error says which marker is not there once.
func Splice(document []byte, text string) ([]byte, error) {
	for _, marker := range []string{BeginMarker, EndMarker} {
		if n := bytes.Count(document, []byte(marker)); n != 1 {
			return nil, fmt.Errorf("document: has the marker %q %d times: want it once", marker, n)
		}
	}
	begin := bytes.Index(document, []byte(BeginMarker)) + len(BeginMarker)
	end := bytes.Index(document, []byte(EndMarker))
	if end < begin {
		return nil, errors.New("document: ends its table before it begins")
	}
	return []byte(string(document[:begin]) + "\n" + text + string(document[end:])), nil
}
