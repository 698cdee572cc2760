package report_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

func sequenceOf(items []report.Item, end error) iter.Seq2[report.Item, error] {
	return func(yield func(report.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		if end != nil {
			yield(report.Item{}, end)
		}
	}
}

func TestFinalLeavesOutWhatWasJudgedLater(t *testing.T) {
	t.Parallel()
	item := func(index int, id string, verdict grade.Verdict) report.Item {
		return report.Item{Index: index, ID: id, Verdict: verdict}
	}
	items := []report.Item{
		item(0, "a", grade.IE), item(1, "b", grade.AC), item(2, "c", grade.IE), item(0, "a", grade.IE),
		item(0, "a", grade.WA), item(2, "d", grade.AC), item(1, "b", grade.AC),
	}
	got, err := collect(report.Final(sequenceOf(items, nil)))
	require.NoError(t, err)
	require.Equal(t, []report.Item{
		item(1, "b", grade.AC), item(2, "c", grade.IE), item(0, "a", grade.WA), item(2, "d", grade.AC), item(1, "b", grade.AC),
	}, got, "c was not judged, and another file with the same places may follow")

	broken := errors.New("broken")
	_, err = collect(report.Final(sequenceOf(items, broken)))
	require.ErrorIs(t, err, broken)
	for first, err := range report.Final(sequenceOf(items, nil)) {
		require.NoError(t, err)
		require.Equal(t, "b", first.ID)
		break
	}
}
