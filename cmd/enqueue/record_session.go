package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// showLive prints the texts that a call in a live session displayed and the value of its last expression, each
// on lines of its own. HTML is for other readers.
func showLive(stdout io.Writer, record jobs.Record) error {
	if record.Session == nil || record.Session.Live == nil {
		return nil
	}
	var texts []string
	for _, display := range record.Session.Live.Displays {
		if display.Path == "" && display.MIME != "text/html" {
			texts = append(texts, display.Text)
		}
	}
	texts = append(texts, record.Session.Live.Value)
	w := forProgram(stdout)
	glued := len(record.Result.Stdout.Data) > 0 && !bytes.HasSuffix(record.Result.Stdout.Data, []byte("\n"))
	for _, text := range texts {
		if text == "" {
			continue
		}
		if glued {
			text = "\n" + text
		}
		glued = false
		if _, err := io.WriteString(w, strings.TrimSuffix(text, "\n")+"\n"); err != nil {
			return err
		}
	}
	if held, ok := w.(*cli.Disarmer); ok {
		return held.Flush()
	}
	return nil
}

// printSessionNotes says in a line each what became of a session that a program's output does not tell.
func printSessionNotes(stderr io.Writer, report *workspace.Report) {
	if report == nil {
		return
	}
	for _, refused := range report.Refused {
		say(stderr, "file %q is not kept in the session: %s", refused.Path, refused.Reason)
	}
	if report.Live == nil {
		return
	}
	if report.Live.Lost != "" {
		say(stderr, "the live interpreter was started anew, variables of earlier calls are gone: %s", report.Live.Lost)
	}
	if report.Live.Ended != "" {
		say(stderr, "the live interpreter has ended, the next call starts another one from the files: %s", report.Live.Ended)
	}
}

// figuresOf lists the displays of a record that are files.
func figuresOf(record jobs.Record) (figures []workspace.Display) {
	if record.Session == nil || record.Session.Live == nil {
		return nil
	}
	for _, display := range record.Session.Live.Displays {
		if display.Path != "" {
			figures = append(figures, display)
		}
	}
	return figures
}

// withFreeNames renames figures whose names are taken in the folder, in both lists: nobody chose the names, and
// those of the next call are the same. One that --out names is not renamed.
func (v recordView) withFreeNames(files []sandbox.File, figures []workspace.Display) []sandbox.File {
	root, err := os.OpenRoot(v.out.dir)
	if err != nil { // nothing is there, or write will say what is wrong
		return files
	}
	defer func() { _ = root.Close() }()
	taken := map[string]bool{}
	for _, file := range files {
		taken[file.Path] = true
	}
	free := func(name string) bool {
		_, err := root.Lstat(name)
		return err != nil && !taken[name]
	}
	renamed := append([]sandbox.File(nil), files...)
	for i, figure := range figures {
		if _, err := root.Lstat(figure.Path); err != nil || v.out.force || named(v.patterns, figure.Path) {
			continue
		}
		extension := path.Ext(figure.Path)
		name := figure.Path
		for n := 2; !free(name); n++ {
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(figure.Path, extension), n, extension)
		}
		taken[name], figures[i].Path = true, name
		for j := range renamed {
			if renamed[j].Path == figure.Path {
				renamed[j].Path = name
			}
		}
	}
	return renamed
}
