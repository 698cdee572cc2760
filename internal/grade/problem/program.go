package problem

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// File is a file of a package that is sent into a sandbox.
type File struct {
	// Path is relative to the folder where the file will lie; Source is its path in the package.
	Path, Source string
	// Size is in bytes. Executable tells whether it may be run.
	Size       int64
	Executable bool
}

// Program is a submission or validator: a file, or a folder of files.
type Program struct {
	// Path is the file's or folder's in the package, and Name its last element without extension.
	Path, Name string
	// Files are in order of their paths.
	Files []File
	// Language is what submissions.yaml says, "" when the files tell it.
	Language string
	// Entrypoint is the main file or class of submissions.yaml, "" for the language's own.
	Entrypoint string
}

// HasScript tells whether the program brings its own build or run script, as validators may.
func (p Program) HasScript() bool {
	return slices.ContainsFunc(p.Files, func(file File) bool { return file.Path == "build" || file.Path == "run" })
}

// size is the bytes of all files.
func (p Program) size() int64 {
	var sum int64
	for _, file := range p.Files {
		sum += file.Size
	}
	return sum
}

// formatCodes are the format's codes of languages whose names differ from ours.
var formatCodes = map[string]string{"javascript": "node", "python3": "python", "python3numpy": "python", "cppgmp": "cpp", "cgmp": "c"}

// DetectLanguage finds the one language that the program's files are in, or that it names. A C++ program
// may contain C files. content returns a file without extension for its #! line; nil is none.
func (p Program) DetectLanguage(languages *sandbox.Languages, content func(File) []byte) (sandbox.Language, error) {
	if p.Language != "" {
		name := p.Language
		if ours, known := formatCodes[name]; known {
			name = ours
		}
		return languages.Lookup(name)
	}
	found := map[string]sandbox.Language{}
	for _, file := range p.Files {
		var head []byte
		if path.Ext(file.Path) == "" && content != nil {
			head = content(file)
		}
		if language, ok := languages.Detect(file.Path, head); ok {
			found[language.Name] = language
		}
	}
	if _, mixed := found["cpp"]; mixed {
		delete(found, "c")
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return sandbox.Language{}, fmt.Errorf("program %s: no file tells its language", p.Path)
	case 1:
		return found[names[0]], nil
	}
	return sandbox.Language{}, fmt.Errorf("program %s: files in several languages: %s", p.Path, strings.Join(names, ", "))
}

// MainFile returns the file that a program starts with: the entry point, the only file in
// the language, the one with the language's own main name, or main with any extension.
func (p Program) MainFile(language sandbox.Language) (string, error) {
	var sources []string
	for _, file := range p.Files {
		if slices.Contains(language.Extensions, path.Ext(file.Path)) {
			sources = append(sources, file.Path)
		}
	}
	if len(sources) == 0 && len(p.Files) == 1 {
		return p.Files[0].Path, nil
	}
	candidates := []string{language.File}
	if p.Entrypoint != "" {
		candidates = []string{p.Entrypoint}
		for _, extension := range language.Extensions {
			candidates = append(candidates, strings.ReplaceAll(strings.TrimSuffix(p.Entrypoint, "Kt"), ".", "/")+extension)
		}
	} else if len(sources) == 1 {
		return sources[0], nil
	}
	for _, extension := range language.Extensions {
		candidates = append(candidates, "main"+extension, "Main"+extension, "__main__"+extension)
	}
	for _, candidate := range candidates {
		if slices.Contains(sources, candidate) {
			return candidate, nil
		}
	}
	if len(sources) > 0 && p.Entrypoint == "" && len(language.Compile) > 0 {
		// All sources are compiled together, so that the first stands for them.
		return sources[0], nil
	}
	return "", fmt.Errorf("program %s: which file of %s is the main one is unknown: want one of %s",
		p.Path, strings.Join(sources, ", "), strings.Join(candidates, ", "))
}

// programFiles lists the files of a folder at any depth, relative to it, below prefix.
func (f *folder) programFiles(dir, prefix string) []File {
	var files []File
	for _, item := range f.list(dir) {
		if item.folder {
			files = append(files, f.programFiles(item.path, prefix+item.name+"/")...)
			continue
		}
		files = append(files, fileOf(item, prefix))
	}
	return files
}

func fileOf(item entry, prefix string) File {
	return File{Path: prefix + item.name, Source: item.path, Size: item.size, Executable: item.executable}
}

// program makes a program of a file or a folder and checks that it is neither empty nor too large.
func (f *folder) program(item entry) (Program, bool) {
	program := Program{Path: item.path, Name: strings.TrimSuffix(item.name, path.Ext(item.name))}
	if item.folder {
		program.Name = item.name
		program.Files = f.programFiles(item.path, "")
	} else {
		program.Files = []File{fileOf(item, "")}
	}
	return program, f.usable(program)
}

func (f *folder) usable(program Program) bool {
	switch {
	case len(program.Files) == 0:
		f.report.warnf(program.Path, 0, "holds no file and is ignored")
	case len(program.Files) > maxSourceFiles:
		f.report.errorf(program.Path, 0, "has %d files: want at most %d", len(program.Files), maxSourceFiles)
	case program.size() > maxSourceBytes:
		f.report.errorf(program.Path, 0, "has %d bytes: want at most %d", program.size(), maxSourceBytes)
	default:
		return true
	}
	return false
}
