package explain

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// startedAnew is only told when variables were lost by it: the first call of a session loses none.
func (f *facts) startedAnew() bool { return f.live().Started && f.live().Lost != "" }

func startedAnew(f *facts) string {
	return "the interpreter was started anew for this call: " + sentence(f.live().Lost) +
		" Variables, imports and functions of earlier calls are gone, files in /workspace are there. Define again what you need"
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

func notKept(f *facts) string {
	refused := f.refused()
	names := make([]string, len(refused))
	for i, file := range refused {
		names[i] = fmt.Sprintf("%s (%s)", file.Path, file.Reason)
	}
	text := "files are not kept: " + list(names) + "."
	if f.Session != nil && len(f.Session.Refused) > 0 && len(f.Session.Written)+len(f.Session.Deleted) == 0 {
		return text + " No change of this call to the files is kept. Delete or shrink what is too large and write again"
	}
	return text + " Write regular files only, and smaller ones"
}
