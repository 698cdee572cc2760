package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func timesOf(times ...time.Duration) *histogram {
	h := &histogram{}
	for _, t := range times {
		h.add(sandbox.Seconds(t))
	}
	return h
}

func TestHistogramCountsEveryTimeOnce(t *testing.T) {
	t.Parallel()
	h := timesOf(0, -time.Second, time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, time.Hour, 1000*time.Hour, 200_000*time.Hour)
	require.Equal(t, 7, h.count, "what took no time did not run")
	sum := 0
	for _, b := range h.bars() {
		sum += b.Count
	}
	require.Equal(t, 7, sum)
	require.Equal(t, sandbox.Seconds(time.Nanosecond), h.min)
	require.Equal(t, sandbox.Seconds(200_000*time.Hour), h.max)
}

func TestTimesAreCountedInTheirBar(t *testing.T) {
	t.Parallel()
	h := timesOf(10*time.Millisecond, 15*time.Millisecond, 99*time.Millisecond, 500*time.Millisecond, 5*time.Second)
	// 2.7 decades in at most 6 bars: half a decade each, from 10 ms to 10 s.
	bars := h.bars()
	require.Len(t, bars, 6)
	for i, want := range []struct {
		start, end float64
		count      int
	}{{0.01, 0.0316, 2}, {0.0316, 0.1, 1}, {0.1, 0.316, 0}, {0.316, 1, 1}, {1, 3.16, 0}, {3.16, 10, 1}} {
		require.InEpsilon(t, want.start, bars[i].Start, 0.001)
		require.InEpsilon(t, want.end, bars[i].End, 0.001)
		require.Equal(t, want.count, bars[i].Count)
	}
}

func TestEqualTimesAreOneBar(t *testing.T) {
	t.Parallel()
	h := timesOf(time.Second, time.Second, time.Second)
	require.Len(t, h.bars(), 1)
	require.Equal(t, 3, h.bars()[0].Count)
	require.Empty(t, timesOf().bars())
	require.Nil(t, newTimesView(timesOf()))
}

func TestQuantilesAreNotBelowTheTrueOnes(t *testing.T) {
	t.Parallel()
	h := &histogram{}
	for i := 1; i <= 1000; i++ {
		h.add(sandbox.Seconds(time.Duration(i) * time.Millisecond))
	}
	for share, want := range map[float64]float64{0.5: 0.5, 0.9: 0.9, 0.99: 0.99, 1: 1} {
		got := h.quantile(share).Duration().Seconds()
		require.GreaterOrEqual(t, got, want-1e-9, "%v", share)
		require.LessOrEqual(t, got, want*1.06, "%v", share)
	}
	require.Equal(t, sandbox.Seconds(time.Second), h.quantile(1))
}

func TestTicksAreRoundTimesAtTheirPlace(t *testing.T) {
	t.Parallel()
	require.Equal(t, []tick{{"0.00%", "10 ms", "start"}, {"50.00%", "100 ms", "middle"}, {"100.00%", "1 s", "end"}},
		every(ticks(0.01, 1), "10 ms", "100 ms", "1 s"))
	for _, span := range [][2]float64{{1e-6, 1e5}, {0.01, 0.02}, {0.9, 1.1}, {0.011, 0.012}, {1, 1e4}} {
		list := ticks(span[0], span[1])
		require.GreaterOrEqual(t, len(list), 2, "%v", span)
		require.LessOrEqual(t, len(list), 6, "%v", span)
	}
}

// every picks the ticks with some labels.
func every(list []tick, labels ...string) (picked []tick) {
	for _, tick := range list {
		for _, label := range labels {
			if tick.Label == label {
				picked = append(picked, tick)
			}
		}
	}
	return picked
}
