package problem

import (
	"path"
	"slices"
)

// readValidators finds the output validators and tells whether there are input validators.
func (f *folder) readValidators(meta *Metadata) (output, input []Program) {
	input = f.validators("input_validators")
	if len(input) == 0 {
		input = f.validators("input_format_validators")
	}
	dirs := []string{"output_validators", "output_validator"}
	if !meta.Legacy() {
		slices.Reverse(dirs)
	}
	for _, dir := range dirs {
		if output = f.validators(dir); len(output) > 0 {
			break
		}
	}
	f.checkValidators(meta, output, dirs[0])
	return output, input
}

func (f *folder) checkValidators(meta *Metadata, output []Program, dir string) {
	if !meta.Legacy() {
		meta.CustomValidation = len(output) > 0
		if len(output) > 1 {
			f.report.errorf(dir, 0, "holds %d programs: want one", len(output))
		}
	}
	switch {
	case meta.CustomValidation && len(output) == 0:
		f.report.errorf("problem.yaml", 0, "asks for custom validation: want an output validator in %s", dir)
	case !meta.CustomValidation && len(output) > 0:
		f.report.warnf(dir, 0, "is not used: problem.yaml asks for the default validation")
	case !meta.CustomValidation && (meta.Interactive || meta.MultiPass):
		f.report.errorf("problem.yaml", 0, "is interactive or multi-pass: want an output validator in %s", dir)
	case len(output) > 1 && (meta.Interactive || meta.MultiPass):
		f.report.errorf(dir, 0, "holds %d programs: want one, which a submission can talk to", len(output))
	}
	if f.exists("static_validator") {
		f.report.errorf("static_validator", 0, "static validators are not supported")
	}
}

var headers = []string{".h", ".hh", ".hpp", ".hxx"}

// validators reads the programs of a folder: each folder and file is one, headers beside a file
// belong to it, and a folder with a build or run script, or with several sources and a
// Python __main__, is a program as a whole.
func (f *folder) validators(dir string) []Program {
	items := f.list(dir)
	if slices.ContainsFunc(items, func(item entry) bool {
		return !item.folder && (item.name == "build" || item.name == "run" || item.name == "__main__.py")
	}) {
		program, usable := f.program(entry{name: path.Base(dir), path: dir, folder: true})
		if !usable {
			return nil
		}
		return []Program{program}
	}
	var shared []File
	for _, item := range items {
		if !item.folder && slices.Contains(headers, path.Ext(item.name)) {
			shared = append(shared, fileOf(item, ""))
		}
	}
	var programs []Program
	for _, item := range items {
		if !item.folder && slices.Contains(append(headers, ".md", ".txt"), path.Ext(item.name)) || item.name == "README" {
			continue
		}
		program, usable := f.program(item)
		if !usable {
			continue
		}
		if !item.folder {
			program.Files = append(program.Files, shared...)
		}
		programs = append(programs, program)
	}
	return programs
}

// readIncludes reads include/<language>/, by the code of the language; default is for all.
func (f *folder) readIncludes() map[string][]File {
	includes := map[string][]File{}
	for _, item := range f.list("include") {
		if !item.folder {
			f.report.warnf(item.path, 0, "is ignored: want folders named for languages")
			continue
		}
		program, usable := f.program(item)
		if usable {
			includes[item.name] = program.Files
		}
	}
	return includes
}
