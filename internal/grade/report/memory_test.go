package report_test

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

var formats = map[string]func(io.Writer, iter.Seq2[report.Item, error], report.Options) error{
	"CSV": report.WriteCSV, "JUnit": report.WriteJUnit, "HTML": report.WriteHTML,
}

// heavy items hold 1 KB of text each, have groups of their own, and get worse, so that each is kept for a while.
func heavy(i int) report.Item {
	return report.Item{
		Index: -i, ID: fmt.Sprint("item-", i), Group: fmt.Sprint("group-", i), Verdict: grade.WA, Message: strings.Repeat("m", 500),
		CPUTime: ms(i), Tests: []grade.TestReport{{Name: fmt.Sprint("test-", i), Finding: grade.Finding{Verdict: grade.WA}, CPUTime: ms(i), Stdout: stream(strings.Repeat("o", 500))}},
	}
}

// TestMemoryDoesNotGrowWithTheNumberOfItems is not parallel, because others would allocate.
func TestMemoryDoesNotGrowWithTheNumberOfItems(t *testing.T) {
	const items = 100_000 // 150 MB if they were kept
	for name, format := range formats {
		// The heap is looked at on the way: what is alive beside the item itself.
		var live uint64
		watched := made(items, func(i int) report.Item {
			if i == items-1 {
				live = max(live, heap())
			}
			return heavy(i)
		})
		before := heap()
		require.NoError(t, format(io.Discard, watched, report.Options{}))
		require.Less(t, int64(live)-int64(before), int64(24<<20), "%s of %d items", name, items)
	}
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
