package problem

import (
	"path"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// currentGroup is a group of the format since 2023-07 while its scores are not yet shared out.
type currentGroup struct {
	*grade.Group
	file        string
	aggregation grade.Aggregation
	// maximum is the group's own, nil when unbounded; given tells whether the package says so.
	maximum *float64
	given   bool
	inner   []*currentGroup
	tests   int
}

// currentRoot reads data of a package since 2023-07.
func (d *dataReader) currentRoot() *grade.Group {
	root := &grade.Group{Break: true, Rule: grade.LegacyRule{}}
	settings := testSettings{flagsFile: "problem.yaml"}
	if found, has := d.readMapping("data/test_group.yaml", d.meta.replaceConstants); has {
		settings = d.inherited(found, settings)
		found.close()
	}
	sampleSettings := settings
	sampleSettings.fullFeedback = true
	sample := d.currentGroup("data/sample", sampleSettings, 0)
	secret := d.currentGroup("data/secret", settings, 1)
	root.Items = []grade.Item{{Group: sample.Group}, {Group: secret.Group}}
	if len(sample.inner) > 0 {
		d.report.errorf("data/sample", 0, "has groups: want tests only")
	}
	if d.meta.Version == Version202509 && len(secret.inner) > 0 && secret.tests > 0 {
		d.report.errorf("data/secret", 0, "has both tests and groups: want one or the other")
	}
	if d.meta.Scoring {
		root.Break = false
		root.Rule = grade.ScoringRule{Aggregation: grade.ScoreOfSecret}
		sample.Rule = grade.ScoringRule{Aggregation: grade.Unscored}
		d.shareOut(secret)
		d.checkRequired(root)
	}
	return root
}

// currentGroup reads a folder. Depth 0 is sample, 1 secret and more a group inside. Folders inside a
// group of 2025-09 are no groups of their own: their tests are the group's.
func (d *dataReader) currentGroup(dir string, settings testSettings, depth int) *currentGroup {
	m, _ := d.readMapping(path.Join(dir, "test_group.yaml"), d.meta.replaceConstants)
	settings = d.inherited(m, settings)
	group := &currentGroup{Group: &grade.Group{Name: strings.TrimPrefix(dir, "data/"), Break: true, Rule: grade.LegacyRule{}}, file: m.file}
	d.readScoring(m, group, depth)
	m.close()

	var items []namedItem
	d.currentItems(dir, "", settings, depth, group, &items)
	group.Items = inOrder(items)
	if d.meta.Scoring {
		group.Break = group.aggregation == grade.PassFail && depth > 0 || group.aggregation == grade.MinOfItems
	}
	return group
}

func (d *dataReader) currentItems(dir, prefix string, settings testSettings, depth int, group *currentGroup, items *[]namedItem) {
	found := d.scanData(dir, false)
	for _, base := range d.bases(found) {
		*items = append(*items, namedItem{prefix + base, grade.Item{Test: d.addTest(found, base, settings)}})
		group.tests++
	}
	for _, inner := range found.groups {
		if _, clash := found.cases[inner.name][".in"]; clash {
			d.report.errorf(inner.path, 0, "has the name of a test beside it")
		}
		if d.meta.Version == Version202509 && depth > 1 {
			if d.exists(path.Join(inner.path, "test_group.yaml")) {
				d.report.errorf(inner.path, 0, "is a group in a group: want groups in data/secret only")
			}
			d.currentItems(inner.path, prefix+inner.name+"/", settings, depth+1, group, items)
			continue
		}
		below := d.currentGroup(inner.path, settings, depth+1)
		group.inner = append(group.inner, below)
		*items = append(*items, namedItem{inner.name, grade.Item{Group: below.Group}})
	}
}

// inherited reads the keys that a group hands down to its tests.
func (d *dataReader) inherited(m *mapping, settings testSettings) testSettings {
	if args, found := m.texts("args", false); found {
		settings.args = args
	}
	if flags, found := m.texts("output_validator_args", false); found {
		settings.validatorFlags, settings.flagsFile = flags, m.file
	}
	if full, found := m.truth("full_feedback"); found {
		settings.fullFeedback = full
	}
	m.ignore("input_validator_args", "input_visualizer_args", "output_visualizer_args", "static_validator_args", "hint", "description")
	return settings
}

// testConfig reads the settings of one test.
func (d *dataReader) testConfig(file string, settings testSettings, test *Test) testSettings {
	m, _ := d.readMapping(file, nil)
	test.Hint, _ = m.text("hint")
	test.Description, _ = m.text("description")
	settings = d.inherited(m, settings)
	m.close()
	return settings
}

// readScoring reads how the group is scored: keys of its own in 2025-09, a map in 2023-07.
func (d *dataReader) readScoring(m *mapping, group *currentGroup, depth int) {
	if m.has("static_validation_score") || m.isMap("static_validation") {
		m.errorf("", "static validators are not supported")
	}
	m.ignore("static_validation")
	scoring, names := m, [3]string{"max_score", "score_aggregation", "require_pass"}
	if m.has("scoring") {
		scoring, names = m.inner("scoring"), [3]string{"score", "aggregation", "require_pass"}
		defer scoring.close()
	}
	group.aggregation = grade.PassFail
	if depth == 1 {
		group.aggregation = grade.SumOfItems
		hundred := 100.0
		group.maximum = &hundred
	}
	for _, name := range names {
		if scoring.has(name) && (depth == 0 || !d.meta.Scoring) {
			scoring.errorf(name, "is only for groups of secret in problems of type scoring")
			return
		}
	}
	d.readMaximum(scoring, names[0], group)
	mode, _ := scoring.choice(names[1], "pass-fail", "sum", "min")
	switch mode {
	case "pass-fail":
		group.aggregation = grade.PassFail
	case "sum":
		group.aggregation = grade.SumOfItems
	case "min":
		group.aggregation = grade.MinOfItems
	}
	group.RequirePass, _ = scoring.texts(names[2], true)
	if group.aggregation == grade.PassFail && group.given && group.maximum == nil {
		scoring.errorf(names[0], "a group with pass-fail aggregation cannot be unbounded")
	}
}

func (d *dataReader) readMaximum(m *mapping, key string, group *currentGroup) {
	node := m.get(key)
	if node == nil {
		return
	}
	group.given = true
	if node.Value == "unbounded" {
		group.maximum = nil
		return
	}
	if node.Tag == "!!str" {
		m.errorf(key, "%q: want a whole number or unbounded", shorten(node.Value))
		return
	}
	if value, found := m.integer(key, 0, maxScore); found {
		points := float64(value)
		group.maximum = &points
	}
}

// shareOut gives each group its rule, from the top down.
func (d *dataReader) shareOut(group *currentGroup) {
	taken, sharing := 0.0, group.tests
	for _, inner := range group.inner {
		if inner.maximum != nil {
			taken += *inner.maximum
		} else if !inner.given {
			sharing++
		}
	}
	share, err := grade.ShareOut(group.aggregation, group.maximum, taken, sharing)
	if err != nil {
		d.report.errorf(group.file, 0, "%v", err)
	}
	group.Rule = grade.ScoringRule{Aggregation: group.aggregation, Max: group.maximum, TestMax: share}
	for _, inner := range group.inner {
		d.inheritMaximum(group, inner, share)
		d.shareOut(inner)
	}
}

func (d *dataReader) inheritMaximum(group, inner *currentGroup, share *float64) {
	switch {
	case group.aggregation == grade.PassFail && inner.aggregation != grade.PassFail:
		d.report.errorf(inner.file, 0, "the group around it has pass-fail aggregation: want the same here")
	case group.aggregation == grade.PassFail || inner.maximum != nil:
	case group.maximum == nil:
		if inner.aggregation == grade.PassFail {
			d.report.errorf(inner.file, 0, "a group with pass-fail aggregation needs a maximum score")
		}
	case inner.given:
		d.report.errorf(inner.file, 0, "is unbounded and the group around it is not")
	case d.meta.Version == Version202509:
		d.report.errorf(inner.file, 0, "max_score is missing: want one, or max_score: unbounded in data/secret/test_group.yaml")
	default:
		inner.maximum = share
	}
}

// checkRequired reports requirements that no earlier group or test meets.
func (d *dataReader) checkRequired(root *grade.Group) {
	earlier := map[string]grade.Aggregation{}
	var visit func(group *grade.Group)
	visit = func(group *grade.Group) {
		for _, name := range group.RequirePass {
			aggregation, found := earlier[name]
			if !found {
				d.report.errorf(path.Join("data", group.Name, "test_group.yaml"), 0,
					"require_pass: %q: want sample or a group of secret that comes before this one", shorten(name))
			} else if !slices.Contains([]grade.Aggregation{grade.PassFail, grade.Unscored}, aggregation) {
				d.report.errorf(path.Join("data", group.Name, "test_group.yaml"), 0,
					"require_pass: %s has no pass-fail aggregation", shorten(name))
			}
		}
		for _, item := range group.Items {
			if item.Group != nil {
				visit(item.Group)
			} else {
				earlier[item.Test] = grade.PassFail
			}
		}
		if rule, ok := group.Rule.(grade.ScoringRule); ok {
			earlier[group.Name] = rule.Aggregation
		}
	}
	visit(root)
}
