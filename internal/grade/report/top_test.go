package report

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func TestTopKeepsTheFirstWhateverTheOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 9, 10, 11, 500} {
		smallest := top[int]{keep: 10, before: func(a, b int) bool { return a < b }}
		for _, value := range random.Perm(n) {
			if smallest.wants(value) {
				smallest.put(value)
			}
		}
		want := make([]int, min(n, 10))
		for i := range want {
			want[i] = i
		}
		require.Equal(t, want, append([]int{}, smallest.sorted()...))
		require.Equal(t, max(0, n-10), smallest.left())
	}
}

func TestItemsThatWantALookComeFirst(t *testing.T) {
	t.Parallel()
	half, whole := 0.5, 1.0
	inOrder := []Item{
		{ID: "unexpected, though accepted", Verdict: grade.AC, Unexpected: true, Index: 9},
		{ID: "internal error", Verdict: grade.IE, Index: 8},
		{ID: "compile error", Verdict: grade.CE},
		{ID: "run-time error", Verdict: grade.RE},
		{ID: "memory", Verdict: grade.MLE},
		{ID: "time", Verdict: grade.TLE},
		{ID: "output", Verdict: grade.OLE},
		{ID: "wrong without a score", Verdict: grade.WA, Index: 3},
		{ID: "wrong with a lower score", Verdict: grade.WA, Score: &half, Index: 2},
		{ID: "wrong with a higher score", Verdict: grade.WA, Score: &whole, Index: 1},
		{ID: "not judged", Verdict: grade.NotRun},
		{ID: "accepted", Verdict: grade.AC, Index: 1},
		{ID: "accepted, later in the batch", Verdict: grade.AC, Index: 2},
		{ID: "accepted, the same once more", Verdict: grade.AC, Index: 2},
	}
	ranks := make([]rank, len(inOrder))
	for i, item := range inOrder {
		ranks[i] = newRank(item, i)
	}
	shuffled := slices.Clone(ranks)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, func(a, b rank) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	require.Equal(t, ranks, shuffled)
}
