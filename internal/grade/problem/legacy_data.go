package problem

import (
	"path"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// legacySettings are the keys of testdata.yaml, inherited one by one.
type legacySettings struct {
	onReject, graderFlags string
	accept, reject        *float64
	scoreRange            *string
	tests                 testSettings
}

// legacyRoot reads data of a legacy package.
func (d *dataReader) legacyRoot() *grade.Group {
	settings := legacySettings{onReject: "break", tests: testSettings{validatorFlags: d.meta.ValidatorFlags, flagsFile: "problem.yaml"}}
	settings = d.legacyConfig("data", settings)
	root := &grade.Group{Break: settings.onReject == "break", Rule: d.legacyRule("data", settings)}
	for _, name := range []string{"sample", "secret"} {
		root.Items = append(root.Items, grade.Item{Group: d.legacyGroup("data/"+name, settings)})
	}
	return root
}

func (d *dataReader) legacyGroup(dir string, parent legacySettings) *grade.Group {
	// Only the root can ignore the sample, so nobody inherits it.
	parent.graderFlags = strings.Join(without(strings.Fields(parent.graderFlags), "ignore_sample"), " ")
	settings := d.legacyConfig(dir, parent)
	settings.tests.fullFeedback = dir == "data/sample" || parent.tests.fullFeedback
	group := &grade.Group{
		Name: strings.TrimPrefix(dir, "data/"), Break: settings.onReject == "break", Rule: d.legacyRule(dir, settings),
	}
	found := d.scanData(dir, true)
	var items []namedItem
	for _, base := range d.bases(found) {
		items = append(items, namedItem{base, grade.Item{Test: d.addTest(found, base, settings.tests)}})
	}
	for _, inner := range found.groups {
		items = append(items, namedItem{inner.name, grade.Item{Group: d.legacyGroup(inner.path, settings)}})
	}
	group.Items = inOrder(items)
	return group
}

// legacyConfig lays the testdata.yaml of a folder over its parent's settings.
func (d *dataReader) legacyConfig(dir string, settings legacySettings) legacySettings {
	m, found := d.readMapping(path.Join(dir, "testdata.yaml"), nil)
	if found {
		d.legacyKeys(m, &settings)
		m.close()
	}
	old := d.meta.grading
	if old.onReject != "" {
		settings.onReject = old.onReject
	}
	if old.accept != nil {
		settings.accept = old.accept
	}
	if old.reject != nil {
		settings.reject = old.reject
	}
	if old.scoreRange != nil {
		settings.scoreRange = old.scoreRange
	}
	return settings
}

func (d *dataReader) legacyKeys(m *mapping, settings *legacySettings) {
	if mode, found := m.choice("on_reject", "break", "continue"); found {
		settings.onReject = mode
	}
	if grading, _ := m.choice("grading", "default", "custom"); grading == "custom" {
		m.errorf("grading", "custom graders are not supported: want default")
	}
	if flags, found := m.text("grader_flags"); found {
		settings.graderFlags = flags
	}
	// Input validators are not run when submissions are graded.
	m.ignore("input_validator_flags")
	if flags, found := legacyFlags(m); found {
		settings.tests.validatorFlags = append(append([]string(nil), d.meta.ValidatorFlags...), strings.Fields(flags)...)
		settings.tests.flagsFile = m.file
	}
	for _, key := range []string{"accept_score", "reject_score", "range"} {
		if m.has(key) && !d.meta.Scoring {
			m.warnf(key, "only counts for problems of type scoring")
		}
	}
	if value := optionalNumber(m, "accept_score"); value != nil {
		settings.accept = value
	}
	if value := optionalNumber(m, "reject_score"); value != nil {
		settings.reject = value
	}
	if text, found := m.text("range"); found {
		settings.scoreRange = &text
	}
}

// legacyFlags reads output_validator_flags: flags, or a map of the validator's name and flags.
// Every validator gets them, since every validator runs on every output.
func legacyFlags(m *mapping) (string, bool) {
	const key = "output_validator_flags"
	if !m.isMap(key) {
		return m.text(key)
	}
	inner := m.inner(key)
	inner.text("name")
	flags, found := inner.text("flags")
	inner.close()
	return flags, found
}

func (d *dataReader) legacyRule(dir string, settings legacySettings) grade.LegacyRule {
	file := path.Join(dir, "testdata.yaml")
	rule, err := grade.NewLegacyRule(d.meta.Scoring).WithFlags(strings.Fields(settings.graderFlags))
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			d.report.errorf(file, 0, "%s", line)
		}
	}
	if rule.IgnoreSample && dir != "data" {
		d.report.errorf(file, 0, "grader_flags: ignore_sample is for data/testdata.yaml only")
		rule.IgnoreSample = false
	}
	rule.CustomScore = d.meta.CustomScore
	if settings.accept != nil {
		rule.Accept = *settings.accept
	}
	if settings.reject != nil {
		rule.Reject = *settings.reject
	}
	if settings.scoreRange != nil {
		if rule.Min, rule.Max, err = grade.ParseRange(*settings.scoreRange); err != nil {
			d.report.errorf(file, 0, "%v", err)
		}
	}
	return rule
}

func without(words []string, unwanted string) []string {
	var kept []string
	for _, word := range words {
		if word != unwanted {
			kept = append(kept, word)
		}
	}
	return kept
}
