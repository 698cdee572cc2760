package explain

import (
	"fmt"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// startedAnew is only told when variables were lost by it: the first call of a session loses none.
func (f *facts) startedAnew() bool { return f.live().Started && f.live().Lost != "" }

func startedAnew(f *facts) string {
	return "the interpreter was started anew for this call: " + sentence(f.live().Lost) +
		" Variables, imports and functions of earlier calls are gone, files in /workspace are there. Define again what you need"
}

// ranLive tells whether a live interpreter ran the code.
func (f *facts) ranLive() bool { return f.Session != nil && f.Session.Live != nil }

// ranBesideTheInterpreter is true of code that a session ran in a container of its own although it was meant for an interpreter.
func (f *facts) ranBesideTheInterpreter() bool {
	switch f.Result.Outcome {
	case sandbox.OutcomeRejected, sandbox.OutcomeCanceled, sandbox.OutcomeInfraError:
		return false
	}
	return f.Live && f.Session != nil && f.Session.Live == nil
}

func notLive(*facts) string {
	return "this ran as a program of its own, since the session's live interpreter is one of another language: its variables do not stay, its files do. " +
		"With restart the session changes to an interpreter of this language, and loses the variables of the other"
}

func (f *facts) interpreterEnded() bool { return f.live().Ended != "" }

func interpreterEnded(f *facts) string {
	return "the interpreter ended: " + sentence(f.live().Ended) +
		" The next call starts a new one, with the files of /workspace and without the variables"
}

// refused are files that are not there any more, for the session or for the caller.
func (f *facts) refused() []sandbox.RefusedFile {
	files := f.Result.RefusedFiles
	if f.Session != nil {
		files = append(files[:len(files):len(files)], f.Session.Refused...)
	}
	return files
}

func (f *facts) hasRefused() bool { return len(f.refused()) > 0 }

// notKept tells beside the names whether all changes are lost, as they are when a limit refused any of them.
func notKept(f *facts) string {
	refused := f.refused()
	names := make([]string, len(refused))
	for i, file := range refused {
		name := file.Path
		if name == "." {
			name = "all changes"
		}
		names[i] = fmt.Sprintf("%s (%s)", name, file.Reason)
	}
	text := "files are not kept: " + list(names) + "."
	if f.Session != nil && slices.ContainsFunc(f.Session.Refused, func(file sandbox.RefusedFile) bool { return file.Limit }) {
		return text + " The session has its files as they were before this call. Delete or shrink what is too large and write again"
	}
	return text + " Write regular files only, and smaller ones"
}
