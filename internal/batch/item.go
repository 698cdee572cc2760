package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// compileOutput is how many bytes of what a compiler said an item keeps.
const compileOutput = 4 << 10

// fill puts into an item what became of its job.
func fill(item report.Item, graded bool, record jobs.Record) report.Item {
	result := record.Result
	item.JobID, item.Attempts = record.JobID, len(record.Attempts)
	item.QueueTime, item.FinishedAt = result.QueueTime, record.FinishedAt
	item.Compile = compiled(result.Compile)
	if record.Grade == nil {
		item.CPUTime, item.WallTime = result.CPUUser+result.CPUSystem, result.Duration
		item.PeakMemory = result.PeakMemory
		verdict, message := runVerdict(result, graded)
		return judged(item, verdict, message)
	}
	item.Score, item.Tests, item.Groups = record.Grade.Score, record.Grade.Tests, record.Grade.Groups
	return judged(measured(item), record.Grade.Verdict, gradeMessage(*record.Grade))
}

// measured takes the most of any test for the item's own figures.
func measured(item report.Item) report.Item {
	item.CPUTime, item.WallTime, item.PeakMemory, item.Slowest = 0, 0, 0, ""
	for _, test := range item.Tests {
		if test.CPUTime > item.CPUTime || item.Slowest == "" {
			item.CPUTime, item.Slowest = test.CPUTime, test.Name
		}
		item.WallTime, item.PeakMemory = max(item.WallTime, test.WallTime), max(item.PeakMemory, test.PeakMemory)
	}
	return item
}

// rejudged counts the tests that were judged anew beside an earlier result.
func rejudged(item report.Item, task *grade.Task) report.Item {
	if item.Previous == nil || task == nil {
		return item
	}
	previous := *item.Previous
	previous.Rejudged = 0
	for _, test := range item.Tests {
		if _, known := task.Known[test.Name]; !known {
			previous.Rejudged++
		}
	}
	item.Previous = &previous
	return item
}

// unjudged is the item of an entry whose job could not be run.
func unjudged(item report.Item, err error) report.Item {
	return judged(item, grade.IE, oneLine(err.Error()))
}

func judged(item report.Item, verdict grade.Verdict, message string) report.Item {
	item.Verdict, item.Message = verdict, message
	item.Unexpected = len(item.Expected) > 0 && !slices.Contains(item.Expected, verdict)
	return item
}

// runVerdict is the verdict of a job without a report. One that was to be judged and was not is IE
// unless the run alone decides.
func runVerdict(result sandbox.Result, graded bool) (grade.Verdict, string) {
	verdict, decided := grade.VerdictOf(result.Outcome, result.ExitCode)
	switch {
	case decided:
		finding, _ := grade.OfRun(result)
		return verdict, oneLine(finding.Message)
	case graded:
		return grade.IE, "the worker ran the program and did not judge it"
	}
	return grade.AC, ""
}

// gradeMessage is the report's own, or else that of the first test with its verdict.
func gradeMessage(graded grade.Report) string {
	if graded.Message != "" {
		return oneLine(graded.Message)
	}
	for _, test := range graded.Tests {
		if graded.Verdict.Rejects() && test.Verdict == graded.Verdict && test.Message != "" {
			return fmt.Sprintf("%s: %s", test.Name, oneLine(test.Message))
		}
	}
	return ""
}

func compiled(step *sandbox.Step) *report.Compile {
	if step == nil {
		return nil
	}
	output := step.Stderr.Text()
	if output == "" {
		output = step.Stdout.Text()
	}
	if len(output) > compileOutput {
		output = strings.ToValidUTF8(output[:compileOutput], "") + "\n[...]"
	}
	return &report.Compile{ExitCode: step.ExitCode, Duration: step.Duration, Output: output}
}

func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
