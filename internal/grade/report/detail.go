package report

import (
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// What the page keeps of an item, in bytes and counts, so that the largest page can still be mailed.
const (
	maxName      = 120
	maxMessage   = 500
	maxOutput    = 2 << 10
	maxTestLines = 20
	maxOutputs   = 2
	maxSubtasks  = 30
)

// detail is what the page tells of one item beside its row.
type detail struct {
	row
	JobID    string
	Attempts int
	Compile  *compileDetail
	Subtasks []subtask
	Tests    []testLine
	// MoreTests counts the tests that are left out.
	MoreTests int
	Outputs   []outputText
}

type compileDetail struct {
	ExitCode int
	Duration string
	Output   string
}

// subtask is a group of tests; its name is its path in the tree.
type subtask struct {
	Name    string
	Verdict grade.Verdict
	Score   string
	Note    string
}

type testLine struct {
	Name              string
	Verdict           grade.Verdict
	CPU, Wall, Memory string
	// Ended is how the program ended, where that was not exit code 0.
	Ended   string
	Score   string
	Message string
}

type outputText struct{ Title, Text string }

func newDetail(item Item, row row) *detail {
	d := &detail{row: row, JobID: shorten(item.JobID, maxName), Attempts: item.Attempts}
	if item.Compile != nil {
		d.Compile = &compileDetail{
			ExitCode: item.Compile.ExitCode, Duration: duration(item.Compile.Duration), Output: shorten(item.Compile.Output, maxOutput),
		}
	}
	if item.Groups != nil {
		d.addSubtasks(item.Groups.Items)
	}
	for _, at := range shownTests(item.Tests) {
		d.Tests = append(d.Tests, newTestLine(item.Tests[at]))
	}
	d.MoreTests = len(item.Tests) - len(d.Tests)
	for _, test := range tellingTests(item.Tests) {
		d.addOutput(test, "stdout", test.Stdout)
		d.addOutput(test, "stderr", test.Stderr)
	}
	return d
}

func (d *detail) addSubtasks(groups []grade.Graded) {
	for _, group := range groups {
		if len(d.Subtasks) == maxSubtasks {
			return
		}
		d.Subtasks = append(d.Subtasks, subtask{
			Name: shorten(group.Name, maxName), Verdict: known(group.Verdict),
			Score: scoreOf(group.Score), Note: shorten(group.Note, maxMessage),
		})
		d.addSubtasks(group.Items)
	}
}

func (d *detail) addOutput(test grade.TestReport, stream string, output *sandbox.Stream) {
	if output != nil && len(output.Data) > 0 {
		d.Outputs = append(d.Outputs, outputText{
			Title: stream + " of " + shorten(test.Name, maxName), Text: shorten(output.Text(), maxOutput),
		})
	}
}

func newTestLine(test grade.TestReport) testLine {
	line := testLine{
		Name: shorten(test.Name, maxName), Verdict: known(test.Verdict), CPU: duration(test.CPUTime), Wall: duration(test.WallTime),
		Memory: memory(test.PeakMemory), Score: scoreOf(test.Score), Message: shorten(test.Message, maxMessage),
	}
	switch {
	case test.Signal != "":
		line.Ended = shorten(test.Signal, maxName)
	case test.ExitCode != 0:
		line.Ended = "exit " + thousands(test.ExitCode)
	}
	return line
}

// shownTests are the places of the tests that a detail lists: those that were not accepted before
// others, but in the order in which they were judged.
func shownTests(tests []grade.TestReport) []int {
	var rejected, shown []int
	for i, test := range tests {
		if test.Verdict != grade.AC {
			rejected = append(rejected, i)
		} else {
			shown = append(shown, i)
		}
	}
	shown = append(rejected, shown...)
	shown = shown[:min(len(shown), maxTestLines)]
	slices.Sort(shown)
	return shown
}

// tellingTests are those whose output is shown: the first that were not accepted, or else the first.
func tellingTests(tests []grade.TestReport) []grade.TestReport {
	var telling []grade.TestReport
	for _, test := range tests {
		if test.Verdict != grade.AC && len(telling) < maxOutputs {
			telling = append(telling, test)
		}
	}
	if len(telling) == 0 && len(tests) > 0 {
		telling = tests[:1]
	}
	return telling
}
