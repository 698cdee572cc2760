package problem

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Problem is a package that was read. It is read-only and may be used by several
// goroutines; Close ends its use.
type Problem struct {
	Metadata
	// ShortName is the name of the package's folder.
	ShortName string
	// Root is the tree of groups, sample and secret below it; Tests are all tests in its order.
	Root  *grade.Group
	Tests []Test
	// OutputValidators judge outputs when CustomValidation is set: every one must accept.
	OutputValidators []Program
	// InputValidators are those that check test data; grading does not run them.
	InputValidators []Program
	// Submissions are the package's own.
	Submissions []Submission
	// Include are the files that are added to a submission, by the code of its language or default.
	Include map[string][]File
	// Warnings are worth reading and hinder nothing.
	Warnings []Issue

	files fs.FS
	close func() error
}

// Open opens a file of the package, such as a test's input.
func (p *Problem) Open(name string) (fs.File, error) {
	file, err := open(p.files, name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, plain(err))
	}
	return file, nil
}

// ReadFile reads a whole file of the package and refuses more than limit bytes.
func (p *Problem) ReadFile(name string, limit int64) ([]byte, error) {
	data, err := readFile(p.files, name, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plain(err))
	}
	return data, nil
}

// Close ends the use of the package's folder. Files that are open stay so.
func (p *Problem) Close() error {
	if p.close == nil {
		return nil
	}
	return p.close()
}

// Test returns the test with a name.
func (p *Problem) Test(name string) (Test, bool) {
	at := slices.IndexFunc(p.Tests, func(test Test) bool { return test.Name == name })
	if at < 0 {
		return Test{}, false
	}
	return p.Tests[at], true
}

// Check judges output with the default validator. It is for problems without CustomValidation.
func (t Test) Check(answer, output []byte) grade.Finding {
	return grade.Tokens(t.Tokens, answer, output)
}

// Files reads the files of a program of the package into memory, with the package's constants in
// place, followed by extra ones such as IncludeFor, which replace those of the same path.
func (p *Problem) Files(program []File, extra ...File) ([]sandbox.File, error) {
	files := make([]sandbox.File, 0, len(program)+len(extra))
	left := int64(maxSourceBytes)
	for _, file := range append(slices.Clone(program), extra...) {
		data, err := p.ReadFile(file.Source, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		read := sandbox.File{Path: file.Path, Data: p.replaceConstants(data), Executable: file.Executable}
		if at := slices.IndexFunc(files, func(other sandbox.File) bool { return other.Path == file.Path }); at >= 0 {
			files[at] = read
			continue
		}
		files = append(files, read)
	}
	return files, nil
}

// TestFiles reads the .files of a test, byte for byte.
func (p *Problem) TestFiles(test Test) ([]sandbox.File, error) {
	files := make([]sandbox.File, 0, len(test.Files))
	for _, file := range test.Files {
		data, err := p.ReadFile(file.Source, maxTestFileBytes)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: file.Path, Data: data, Executable: file.Executable})
	}
	return files, nil
}

// maxTestFileBytes bounds one file of a .files folder that is read into memory.
const maxTestFileBytes = 64 << 20

// IncludeFor lists the files to add to a submission in a language that goes by any of the names: its own, or
// else those for all languages.
func (p *Problem) IncludeFor(names ...string) []File {
	for code, ours := range formatCodes {
		if slices.Contains(names, ours) {
			names = append(names, code)
		}
	}
	for _, name := range names {
		if files, found := p.Include[name]; found {
			return files
		}
	}
	return p.Include["default"]
}

// AllowsLanguage tells whether submissions may be in a language that goes by any of the names.
func (p *Problem) AllowsLanguage(names ...string) bool {
	if p.Languages == nil {
		return true
	}
	return slices.ContainsFunc(p.Languages, func(code string) bool {
		return slices.Contains(names, code) || slices.Contains(names, formatCodes[code])
	})
}
