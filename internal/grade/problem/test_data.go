package problem

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// maxTests bounds the tests of a package.
const maxTests = 20_000

// dataReader reads data/sample and data/secret into tests and groups.
type dataReader struct {
	*folder
	meta  Metadata
	tests []Test
	// options caches how the default validator reads a list of flags.
	options map[string]grade.TokenOptions
}

// testSettings are what groups hand down to their tests.
type testSettings struct {
	args           []string
	validatorFlags []string
	fullFeedback   bool
	// where the flags come from, for messages.
	flagsFile string
}

// readData reads all tests and the tree of their groups, whose root is data.
func (f *folder) readData(meta Metadata) (*grade.Group, []Test) {
	d := &dataReader{folder: f, meta: meta, options: map[string]grade.TokenOptions{}}
	known := []string{"sample", "secret", "invalid_input", "invalid_inputs", "invalid_output", "invalid_outputs", "valid_output", "valid_outputs", "bad"}
	for _, item := range f.list("data") {
		switch {
		case item.folder && !slices.Contains(known, item.name):
			f.report.warnf(item.path, 0, "is ignored: want sample and secret")
		case !item.folder && item.name != configFile(meta.Legacy()):
			f.report.warnf(item.path, 0, "is ignored: want tests in data/sample and data/secret")
		}
	}
	var root *grade.Group
	if meta.Legacy() {
		root = d.legacyRoot()
	} else {
		root = d.currentRoot()
	}
	if !slices.ContainsFunc(d.tests, func(test Test) bool { return !test.Sample }) {
		f.report.errorf("data/secret", 0, "has no test: want at least one .in file with its .ans file")
	}
	return root, d.tests
}

// addTest reads one test of a folder.
func (d *dataReader) addTest(found dataFolder, base string, settings testSettings) string {
	files := found.cases[base]
	name := strings.TrimPrefix(path.Join(found.path, base), "data/")
	test := Test{
		Name: name, Sample: strings.HasPrefix(name, "sample/"),
		Input: files[".in"].path, InputSize: files[".in"].size,
		Answer: files[".ans"].path, AnswerSize: files[".ans"].size,
	}
	if d.meta.Legacy() {
		test.Hint = d.note(files[".hint"])
		test.Description = d.note(files[".desc"])
	} else if config, has := files[".yaml"]; has {
		settings = d.testConfig(config.path, settings, &test)
	}
	if extra, has := files[".files"]; has {
		test.Files = d.programFiles(extra.path, "")
	}
	test.Args, test.FullFeedback = settings.args, settings.fullFeedback
	test.ValidatorFlags = settings.validatorFlags
	if !d.meta.CustomValidation {
		test.Tokens = d.tokenOptions(settings)
	}
	if len(d.tests) == maxTests {
		d.report.errorf("data", 0, "has more than %d tests", maxTests)
	}
	if len(d.tests) <= maxTests {
		d.tests = append(d.tests, test)
	}
	return name
}

// note reads a small text that goes with a test.
func (d *dataReader) note(item entry) string {
	if item.path == "" {
		return ""
	}
	text, _ := d.read(item.path, 64*kib)
	return strings.TrimSpace(string(text))
}

// tokenOptions reads flags as the default validator does, and reports each list once.
func (d *dataReader) tokenOptions(settings testSettings) grade.TokenOptions {
	key := strings.Join(settings.validatorFlags, "\x00")
	if options, known := d.options[key]; known {
		return options
	}
	options, err := grade.ParseTokenOptions(settings.validatorFlags)
	if err == nil && !d.meta.Legacy() {
		err = grade.CheckRepeats(settings.validatorFlags)
	}
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			d.report.errorf(settings.flagsFile, 0, "%s", line)
		}
	}
	options.HexFloats = d.meta.Legacy()
	d.options[key] = options
	return options
}

// namedItem is an item with what it is ordered by.
type namedItem struct {
	base string
	grade.Item
}

// inOrder sorts items by the base names of their files and folders.
func inOrder(items []namedItem) []grade.Item {
	sort.SliceStable(items, func(i, j int) bool { return items[i].base < items[j].base })
	ordered := make([]grade.Item, 0, len(items))
	for _, item := range items {
		ordered = append(ordered, item.Item)
	}
	return ordered
}

// bases lists the base names of a folder's tests in order.
func (d *dataReader) bases(found dataFolder) []string {
	var bases []string
	for base := range found.cases {
		bases = append(bases, base)
	}
	sort.Strings(bases)
	return slices.DeleteFunc(bases, func(base string) bool { return !d.complete(found, base) })
}
