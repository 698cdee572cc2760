package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Where the histogram is drawn, in pixels from the top. Across it is percentages, so that it fits any
// screen while its text keeps its size.
const (
	plotTop, plotBottom = 22, 170
	mostTicks           = 6
)

// timesView is the plot of the items' CPU times.
type timesView struct {
	Count                       int
	Median, Most90, Most99, Max string
	Bars                        []timeBar
	Ticks                       []tick
	// Highest is the largest count of a bar.
	Highest int
}

type timeBar struct {
	X, Width  string
	Y, Height int
	Count     int
	// From and To are the times that it counts.
	From, To string
}

// tick is a mark on the axis of times.
type tick struct {
	X, Label string
	// Anchor keeps the label on the plot: start, middle or end.
	Anchor string
}

// newTimesView is nil when no time was measured.
func newTimesView(h *histogram) *timesView {
	bars := h.bars()
	if len(bars) == 0 {
		return nil
	}
	view := &timesView{
		Count: h.count, Median: duration(h.quantile(0.5)), Most90: duration(h.quantile(0.9)),
		Most99: duration(h.quantile(0.99)), Max: duration(h.max), Ticks: ticks(bars[0].Start, bars[len(bars)-1].End),
	}
	for _, b := range bars {
		view.Highest = max(view.Highest, b.Count)
	}
	step := 100 / float64(len(bars))
	for i, b := range bars {
		height := int(math.Ceil(float64(b.Count) / float64(view.Highest) * (plotBottom - plotTop)))
		view.Bars = append(view.Bars, timeBar{
			X: percentage(float64(i)*step + 0.1), Width: percentage(step - 0.2), Y: plotBottom - height, Height: height,
			Count: b.Count, From: duration(inSeconds(b.Start)), To: duration(inSeconds(b.End)),
		})
	}
	return view
}

// ticks are round times between two, or these two themselves where there are none.
func ticks(start, end float64) []tick {
	var times []float64
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		times = nil
		for power := -6; power <= 5; power++ {
			for _, step := range steps {
				if t := step * math.Pow(10, float64(power)); t >= start && t <= end {
					times = append(times, t)
				}
			}
		}
		if len(times) <= mostTicks {
			break
		}
	}
	for len(times) > mostTicks { // every other one, the first included
		for i := 1; i < len(times); i++ {
			times = append(times[:i], times[i+1:]...)
		}
	}
	if len(times) < 2 {
		times = []float64{start, end}
	}
	list := make([]tick, len(times))
	for i, t := range times {
		x := 100 * math.Log(t/start) / math.Log(end/start)
		list[i] = tick{X: percentage(x), Label: tickLabel(t), Anchor: "middle"}
		switch {
		case x < 5:
			list[i].Anchor = "start"
		case x > 95:
			list[i].Anchor = "end"
		}
	}
	return list
}

func tickLabel(seconds float64) string {
	if seconds < 1 {
		return strconv.FormatFloat(seconds*1e3, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
}

func percentage(x float64) string { return fmt.Sprintf("%.2f%%", x) }

func inSeconds(s float64) sandbox.Seconds { return sandbox.Seconds(s * float64(time.Second)) }
