package grade

// Group is a folder of tests with the rule by which their results become its own.
// It is read-only once made and may be shared.
type Group struct {
	// Name is the path below the package's data folder, such as secret/easy; "" is the whole.
	Name string
	// Items are the group's tests and groups in the order in which they are judged.
	Items []Item
	// Break ends the judging of the group at its first item that is not accepted.
	Break bool
	// RequirePass names tests and earlier groups without whose acceptance the group is not judged.
	RequirePass []string
	// Rule is a LegacyRule or a ScoringRule.
	Rule Rule
}

// Item is a test or a group.
type Item struct {
	// Test is the test's name: its path below data without the extension.
	Test string
	// Group is set instead of Test.
	Group *Group
}

// Rule says what a group makes of its items: LegacyRule for the legacy format and all
// pass-fail problems, ScoringRule for scoring problems since 2023-07.
type Rule interface {
	// test completes the result of a test of the group: its score, or that it has none.
	test(finding Finding) Graded
	// group joins the results of the items that count; at least one is there.
	group(items []Graded) Graded
	// skipped is the result of a group that was not judged because of another.
	skipped(because Verdict) Graded
}

// Graded is the result of a test, a group or a whole submission.
type Graded struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Score is nil where the problem gives none.
	Score *float64 `json:"score,omitempty"`
	// Note tells what a person should know: a score out of range, a group that was not judged and why.
	Note string `json:"note,omitempty"`
	// Items are the results of a group's items in order; a test has none.
	Items []Graded `json:"items,omitempty"`
}

// Find returns the result with a name, of a test or a group at any depth.
func (g Graded) Find(name string) (Graded, bool) {
	if g.Name == name {
		return g, true
	}
	for _, item := range g.Items {
		if found, ok := item.Find(name); ok {
			return found, true
		}
	}
	return Graded{}, false
}

// Tests lists the names of all tests of the group in order.
func (g *Group) Tests() []string {
	var names []string
	for _, item := range g.Items {
		if item.Group != nil {
			names = append(names, item.Group.Tests()...)
		} else {
			names = append(names, item.Test)
		}
	}
	return names
}

// Grade computes the result of root from the findings that are known, by test name. A
// test without a finding is NotRun, and so is a group whose result it could still
// change. Findings of tests that Break or RequirePass leave out do not count.
func Grade(root *Group, findings map[string]Finding) Graded {
	walk := walk{findings: findings, done: map[string]Verdict{}}
	return walk.group(root)
}

// Pending lists the tests in order that must still be judged: all those without a finding
// that can change the result as far as is known. Groups that wait for another are not among
// them before that one is judged. With everything, tests that Break leaves out are listed too, for
// people who want to see every test. Without any pending test, Grade is final.
func Pending(root *Group, findings map[string]Finding, everything bool) []string {
	walk := walk{findings: findings, done: map[string]Verdict{}, everything: everything}
	walk.group(root)
	return walk.pending
}

// walk goes through a tree in the order of judging.
type walk struct {
	findings   map[string]Finding
	everything bool
	// done holds the verdicts of what was passed on the way, for RequirePass.
	done    map[string]Verdict
	pending []string
}

func (w *walk) group(group *Group) Graded {
	result := w.judge(group)
	result.Name = group.Name
	w.done[group.Name] = result.Verdict
	return result
}

func (w *walk) judge(group *Group) Graded {
	if name, verdict := w.unmet(group); name != "" {
		result := group.Rule.skipped(verdict)
		if verdict == NotRun {
			return Graded{Items: notRun(group)}
		}
		result.Note = "not judged: " + name + " is " + verdict.String()
		result.Items = notRun(group)
		return result
	}
	var items, counted []Graded
	stopped := false
	for _, item := range group.Items {
		if stopped && !w.everything {
			items = append(items, leftOut(item))
			continue
		}
		result := w.item(group, item)
		items = append(items, result)
		if !stopped && !item.empty() {
			counted = append(counted, result)
			stopped = group.Break && result.Verdict.Rejects()
		}
	}
	result := Graded{Verdict: AC}
	if len(counted) > 0 {
		result = joined(group.Rule, counted)
	}
	result.Items = items
	return result
}

// joined is the rule's result, unless an item is still unknown or failed on our side.
func joined(rule Rule, items []Graded) Graded {
	for _, item := range items {
		if item.Verdict == IE {
			return Graded{Verdict: IE, Note: item.Note}
		}
	}
	for _, item := range items {
		if item.Verdict == NotRun {
			return Graded{}
		}
	}
	return rule.group(items)
}

func (w *walk) item(group *Group, item Item) Graded {
	if item.Group != nil {
		return w.group(item.Group)
	}
	finding := w.findings[item.Test]
	w.done[item.Test] = finding.Verdict
	if finding.Verdict == NotRun {
		w.pending = append(w.pending, item.Test)
		return Graded{Name: item.Test}
	}
	result := group.Rule.test(finding)
	result.Name = item.Test
	w.done[item.Test] = result.Verdict
	return result
}

// unmet names the first requirement of the group that is not accepted, and its verdict.
func (w *walk) unmet(group *Group) (string, Verdict) {
	for _, name := range group.RequirePass {
		if verdict := w.done[name]; verdict != AC {
			return name, verdict
		}
	}
	return "", AC
}

// empty tells that the item is a group without any test. Such a group is accepted and
// does not count, as in the reference.
func (i Item) empty() bool { return i.Group != nil && len(i.Group.Tests()) == 0 }

// leftOut is the result of what was not judged and does not count.
func leftOut(item Item) Graded {
	if item.Group != nil {
		return Graded{Name: item.Group.Name, Items: notRun(item.Group)}
	}
	return Graded{Name: item.Test}
}

func notRun(group *Group) []Graded {
	items := make([]Graded, 0, len(group.Items))
	for _, item := range group.Items {
		items = append(items, leftOut(item))
	}
	return items
}
