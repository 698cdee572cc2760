package sessions

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestALiveCallDoesNotHappenTwice(t *testing.T) {
	t.Parallel()
	tooMuch := sandbox.RefusedFile{Path: ".", Reason: "changed files have 99 bytes", Limit: true}
	for name, changes := range map[string]live.Changes{
		"that changed no file":            {},
		"that changed one":                {Written: list(map[string]string{"a": "1"})},
		"whose files are too large":       {Refused: []sandbox.RefusedFile{tooMuch}},
		"whose files are above the quota": {Written: list(map[string]string{"a": "12345678901"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(o *Options) { o.Quota = 10 })
			b.must(job("1", inSession))
			b.does(func(context.Context, live.Cell) (live.Outcome, error) {
				outcome := fine(changes)
				outcome.Report.Value = "42"
				return outcome, nil
			})
			_, first := b.must(job("2", inSession))
			result, second := b.must(job("2", inSession))
			require.Equal(t, sandbox.OutcomeOK, result.Outcome)
			require.Equal(t, "42", second.Live.Value)
			require.Equal(t, first, second)
			require.Len(t, b.interpreters[0].cells, 2, "variables would have changed once more")
		})
	}
}

// The interpreter tells neither the file that was overwritten nor the one above the quota beside it.
func TestACanceledCallWithTooManyChangesIsUndone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"data": "good"})
	b.must(job("1", inSession))
	python := b.interpreters[0]
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		python.files["data"] = "bad"
		outcome := fine(live.Changes{Refused: []sandbox.RefusedFile{{Path: ".", Reason: "too large", Limit: true}}})
		outcome.Result.Outcome = sandbox.OutcomeCanceled
		return outcome, nil
	})
	b.must(job("2", inSession))
	b.does(nil)
	b.must(job("3", inSession))
	require.Equal(t, map[string]string{"data": "good"}, python.files)
}

func TestAFileThatALiveCallReplacedByALinkIsThereForTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"data": "good", "other": "o"})
	b.must(job("1", inSession))
	python := b.interpreters[0]
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		python.files["data"] = "a link"
		return fine(live.Changes{Refused: []sandbox.RefusedFile{{Path: "data", Reason: "is a link"}}}), nil
	})
	_, report := b.must(job("2", inSession))
	require.EqualValues(t, 1, report.Version)
	require.Equal(t, map[string]string{"data": "good", "other": "o"}, b.files(), "the session keeps what it had")
	b.does(nil)
	b.must(job("3", inSession))
	require.Equal(t, map[string]string{"data": "good", "other": "o"}, python.files)
	require.Equal(t, map[string]string{"data": "good"}, texts(python.cells[2].Write))
	_, report = b.must(job("4", inSession))
	require.Equal(t, &workspace.Report{Version: 1, Live: &workspace.LiveReport{}}, report)
	require.Empty(t, python.cells[3].Write)
}
