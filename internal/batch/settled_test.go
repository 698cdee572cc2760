package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAnEntryThatBringsItsResultNeedsNoJob(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	options := quick(got)
	options.Results = openResults(t, resultsPath(t))
	known := entry(1)
	known.Previous = &report.Previous{Verdict: grade.WA}
	known.Result = &report.Item{
		Index: 77, ID: "old", JobID: "earlier", Verdict: grade.AC, FinishedAt: time.Unix(5, 0),
		Tests: []grade.TestReport{
			{Name: "1", Finding: grade.Finding{Verdict: grade.AC}, CPUTime: sandbox.Seconds(time.Second), PeakMemory: 3},
			{Name: "2", Finding: grade.Finding{Verdict: grade.AC}, CPUTime: sandbox.Seconds(2 * time.Second), WallTime: sandbox.Seconds(4 * time.Second)},
		},
	}
	counts, err := Run(t.Context(), queue, func(yield func(Entry, error) bool) { _ = yield(entry(0), nil) && yield(known, nil) }, options)
	require.NoError(t, err)
	require.Equal(t, 1, queue.times()["item-0"])
	require.Zero(t, queue.times()["item-1"])
	require.Equal(t, 2, counts.Finished)
	require.Zero(t, counts.Outstanding())
	var item report.Item
	for _, one := range got.items {
		if one.ID == "item-1" {
			item = one
		}
	}
	require.Equal(t, 1, item.Index)
	require.Equal(t, known.Key(), item.Key)
	require.Equal(t, ProgramKey(known.Job.Program), item.Program)
	require.Equal(t, "python", item.Language)
	require.Equal(t, "earlier", item.JobID)
	require.Equal(t, &report.Previous{Verdict: grade.WA}, item.Previous)
	require.Equal(t, "2", item.Slowest)
	require.Equal(t, sandbox.Seconds(2*time.Second), item.CPUTime)
	require.Equal(t, sandbox.Seconds(4*time.Second), item.WallTime)

	other := known
	changed := *known.Result
	changed.Verdict = grade.WA
	other.Result = &changed
	require.NotEqual(t, known.Key(), other.Key(), "another result is another entry")
}

func TestTheTestsThatWereJudgedAnewAreCounted(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	queue.judge = func(jobs.Job) (jobs.Record, bool) {
		record := verdict(grade.AC)
		for _, name := range []string{"1", "2", "3"} {
			record.Grade.Tests = append(record.Grade.Tests, grade.TestReport{Name: name, Finding: grade.Finding{Verdict: grade.AC}})
		}
		return record, true
	}
	again := entry(0)
	again.Previous = &report.Previous{Verdict: grade.WA}
	again.Job.Grade = &grade.Task{Suite: again.Job.Grade.Suite, Known: map[string]grade.TestReport{"2": {Name: "2", Finding: grade.Finding{Verdict: grade.AC}}}}
	_, err := Run(t.Context(), queue, func(yield func(Entry, error) bool) { _ = yield(again, nil) && yield(entry(1), nil) }, quick(got))
	require.NoError(t, err)
	for _, item := range got.items {
		if item.ID == "item-1" {
			require.Nil(t, item.Previous)
			continue
		}
		require.Equal(t, &report.Previous{Verdict: grade.WA, Rejudged: 2}, item.Previous)
	}
	require.Zero(t, again.Previous.Rejudged, "the caller's own is not changed")
}
