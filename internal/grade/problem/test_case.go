package problem

import (
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// Test is a test case. Its data stays in the package; Problem.Open opens it.
type Test struct {
	// Name is the path below data without extension, such as secret/easy/01.
	Name string
	// Input and Answer are paths in the package, with their sizes in bytes.
	Input, Answer         string
	InputSize, AnswerSize int64
	// Sample tells that the test is below data/sample.
	Sample bool
	// Args are the submission's arguments and Files what else lies in its folder.
	Args  []string
	Files []File
	// ValidatorFlags are the arguments of the output validators.
	ValidatorFlags []string
	// Tokens are ValidatorFlags as the default validator reads them; unused with a custom one.
	Tokens grade.TokenOptions
	// FullFeedback tells that a submitter may see input, answer and output of the test.
	FullFeedback bool
	// Hint is for submitters, Description for judges.
	Hint, Description string
}

// caseExtensions are the files that may belong to a test; longer ones come first.
var caseExtensions = []string{
	".in.statement", ".ans.statement", ".in.download", ".ans.download", ".interaction",
	".in", ".ans", ".out", ".hint", ".desc", ".yaml", ".jpeg", ".jpg", ".png", ".svg",
}

// dataFolder is a folder of tests as it lies there.
type dataFolder struct {
	path string
	// cases holds what belongs to a base name, by extension.
	cases map[string]map[string]entry
	// groups are the folders inside.
	groups []entry
}

// scanData sorts the files of a folder below data.
func (f *folder) scanData(dir string, legacy bool) dataFolder {
	found := dataFolder{path: dir, cases: map[string]map[string]entry{}}
	for _, item := range f.list(dir) {
		switch {
		case item.folder && strings.HasSuffix(item.name, ".files"):
			found.put(strings.TrimSuffix(item.name, ".files"), ".files", item)
		case item.folder:
			found.groups = append(found.groups, item)
		case item.name == configFile(legacy):
		case item.name == configFile(!legacy):
			f.report.errorf(item.path, 0, "is of another version of the format: want %s", configFile(legacy))
		default:
			f.scanFile(&found, item)
		}
	}
	return found
}

func (f *folder) scanFile(found *dataFolder, item entry) {
	for _, extension := range caseExtensions {
		if base, matches := strings.CutSuffix(item.name, extension); matches && base != "" {
			found.put(base, extension, item)
			return
		}
	}
	f.report.warnf(item.path, 0, "belongs to no test and is ignored")
}

func (d *dataFolder) put(base, extension string, item entry) {
	if d.cases[base] == nil {
		d.cases[base] = map[string]entry{}
	}
	d.cases[base][extension] = item
}

// configFile is the name of a group's settings.
func configFile(legacy bool) string {
	if legacy {
		return "testdata.yaml"
	}
	return "test_group.yaml"
}

// complete tells whether base is a test, and reports what is missing or left over.
func (f *folder) complete(d dataFolder, base string) bool {
	files := d.cases[base]
	_, hasInput := files[".in"]
	_, hasAnswer := files[".ans"]
	if hasInput && hasAnswer {
		return true
	}
	path := d.path + "/" + base
	switch {
	case hasInput:
		f.report.errorf(path+".in", 0, "has no answer file: want %s.ans beside it", base)
	case hasAnswer:
		f.report.errorf(path+".ans", 0, "has no input file: want %s.in beside it", base)
	default:
		// Sample interactions and what statements show need no test.
		for _, extension := range []string{".files", ".yaml", ".hint", ".desc"} {
			if _, orphan := files[extension]; orphan {
				f.report.warnf(path+extension, 0, "belongs to no test: want %s.in beside it", base)
			}
		}
	}
	return false
}
