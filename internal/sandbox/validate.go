package sandbox

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"unicode/utf8"
)

// Bounds on what has no limit of its own in Limits.
const (
	maxPathBytes = 1024
	maxPathDepth = 64
	maxArgBytes  = 128 * 1024 // the kernel's MAX_ARG_STRLEN, see execve(2)
	maxArgs      = 4096
	// maxListBytes bounds all args and variables together, which the kernel copies to one stack, and
	// all paths together, which travel in one message.
	maxListBytes = 1 << 20
	maxOutputs   = 64
)

// Validate checks what can be checked without knowing the language: paths, counts and
// sizes. The error joins one sentence for each field that is wrong.
func (p Program) Validate(limits Limits) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Language == "" {
		refuse("language: is empty")
	}
	if p.Main != "" {
		if err := checkPath(p.Main); err != nil {
			refuse("main: %w", err)
		}
	}
	if len(p.Source) == 0 && len(p.Files) == 0 {
		refuse("source: is empty and there are no files")
	}
	errs = append(errs, p.validateFiles(limits)...)
	if len(p.Args) > maxArgs {
		refuse("args: %d are given: want at most %d", len(p.Args), maxArgs)
	}
	if size := p.listBytes(); size > maxListBytes {
		refuse("args, env: are %d bytes together: want at most %d", size, maxListBytes)
	}
	for i, arg := range p.Args {
		if err := checkString(arg); err != nil {
			refuse("args[%d]: %w", i, err)
		}
	}
	for key, value := range p.Env {
		if key == "" || strings.ContainsAny(key, "=\x00") || !utf8.ValidString(key) {
			refuse("env: the name %q is not a variable's name", key)
		}
		if err := checkString(value); err != nil {
			refuse("env.%s: %w", key, err)
		}
	}
	return errors.Join(append(errs, checkOutputs(p.Outputs)...)...)
}

// listBytes is the size of the arguments and the environment.
func (p Program) listBytes() (size int) {
	for _, arg := range p.Args {
		size += len(arg) + 1
	}
	for key, value := range p.Env {
		size += len(key) + len(value) + 2
	}
	return size
}

func (p Program) validateFiles(limits Limits) []error {
	total, errs := checkFiles(p.Files, limits, checkPath)
	errs = append(errs, nested(p.Files)...)
	total += int64(len(p.Source) + len(p.Stdin))
	if total > limits.InputBytes {
		errs = append(errs, fmt.Errorf("files: source, files and stdin are %d bytes: want at most %d", total, limits.InputBytes))
	}
	return errs
}

// CheckFiles checks the paths of files: clean, below /workspace, each once, none below another, all together not too
// long for one job. Number and sizes are the caller's to bound.
func CheckFiles(files []File) error {
	_, errs := checkFiles(files, Limits{FilesIn: math.MaxInt}, checkPath)
	return errors.Join(append(errs, nested(files)...)...)
}

// checkFiles returns the size of all files and one error for each that is wrong.
func checkFiles(files []File, limits Limits, check func(path string) error) (total int64, errs []error) {
	if len(files) > limits.FilesIn {
		errs = append(errs, fmt.Errorf("files: %d are given: want at most %d", len(files), limits.FilesIn))
	}
	paths := 0
	seen := map[string]bool{}
	for i, file := range files {
		if err := check(file.Path); err != nil {
			errs = append(errs, fmt.Errorf("files[%d].path: %w", i, err))
		}
		name := strings.TrimSuffix(file.Path, "/")
		if seen[name] {
			errs = append(errs, fmt.Errorf("files[%d].path: %q is given twice", i, file.Path))
		}
		seen[name] = true
		total += int64(len(file.Data))
		paths += len(file.Path)
	}
	if paths > maxListBytes {
		errs = append(errs, fmt.Errorf("files: all paths are %d bytes together: want at most %d", paths, maxListBytes))
	}
	return total, errs
}

// nested returns one error for each file that would lie in another, which no folder can hold.
func nested(files []File) (errs []error) {
	names := make(map[string]bool, len(files))
	for _, file := range files {
		names[file.Path] = true
	}
	for i, file := range files {
		if len(file.Path) > maxPathBytes {
			continue // it is refused, and may have any number of folders
		}
		for folder := path.Dir(file.Path); folder != "." && folder != "/"; folder = path.Dir(folder) {
			if names[folder] {
				errs = append(errs, fmt.Errorf("files[%d].path: %q is a file and %q needs it as a directory", i, folder, file.Path))
				break
			}
		}
	}
	return errs
}

// checkOutputs checks the patterns of files that are to come back.
func checkOutputs(patterns []string) (errs []error) {
	if len(patterns) > maxOutputs {
		errs = append(errs, fmt.Errorf("outputs: %d are given: want at most %d", len(patterns), maxOutputs))
	}
	for i, pattern := range patterns {
		if err := CheckPattern(pattern); err != nil {
			errs = append(errs, fmt.Errorf("outputs[%d]: %w", i, err))
		}
	}
	return errs
}

// checkPath accepts a clean relative path with forward slashes that stays below its root.
func checkPath(name string) error {
	switch {
	case name == "" || name == ".":
		return errors.New("is empty")
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%q holds a NUL byte", name)
	case !utf8.ValidString(name): // JSON would silently make another name of it
		return fmt.Errorf("%q is not UTF-8", name)
	case len(name) > maxPathBytes:
		return fmt.Errorf("is %d bytes long: want at most %d", len(name), maxPathBytes)
	case strings.Count(name, "/") >= maxPathDepth:
		return fmt.Errorf("is %d levels deep: want at most %d", strings.Count(name, "/")+1, maxPathDepth)
	case path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return fmt.Errorf("%q is not a clean relative path below /workspace", name)
	case name == OutPath || strings.HasPrefix(name, OutPath+"/"):
		return fmt.Errorf("%q is where the compiled program goes", name)
	}
	for _, element := range strings.Split(name, "/") {
		if len(element) > 255 {
			return fmt.Errorf("has an element of %d bytes: want at most 255", len(element))
		}
	}
	return nil
}

func checkString(s string) error {
	if strings.ContainsRune(s, 0) {
		return errors.New("holds a NUL byte")
	}
	if !utf8.ValidString(s) {
		return errors.New("is not UTF-8")
	}
	if len(s) >= maxArgBytes {
		return fmt.Errorf("is %d bytes long: want less than %d", len(s), maxArgBytes)
	}
	return nil
}
