package report

import (
	"math"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// perDecade is into how many buckets each power of ten is divided: each is 6 % wide.
	perDecade = 40
	// decades reach from a microsecond to a hundred thousand seconds; what is beyond counts at the end.
	decades = 11
	// coarsest and finest are how many bars a histogram has at the most and at the least, if it can.
	mostBars, fewestBars = 24, 6
)

// histogram counts times in buckets whose width grows with the time. Its size is fixed.
type histogram struct {
	buckets  [decades * perDecade]int
	count    int
	min, max sandbox.Seconds
}

// add counts a time above 0; anything else is not a measured one.
func (h *histogram) add(s sandbox.Seconds) {
	if s <= 0 {
		return
	}
	h.buckets[bucketOf(s)]++
	if h.count == 0 || s < h.min {
		h.min = s
	}
	h.max = max(h.max, s)
	h.count++
}

func bucketOf(s sandbox.Seconds) int {
	bucket := math.Floor(math.Log10(float64(s)/float64(time.Microsecond)) * perDecade)
	return int(min(max(bucket, 0), decades*perDecade-1))
}

// bucketStart is the time at which a bucket begins, in seconds.
func bucketStart(bucket int) float64 { return math.Pow(10, float64(bucket)/perDecade) / 1e6 }

// quantile returns a time that at least the share of the counted times does not exceed: the end of
// a bucket, and so up to 6 % too much.
func (h *histogram) quantile(share float64) sandbox.Seconds {
	want, sum := int(math.Ceil(share*float64(h.count))), 0
	for bucket, count := range h.buckets {
		if sum += count; count > 0 && sum >= want {
			return min(h.max, sandbox.Seconds(bucketStart(bucket+1)*float64(time.Second)))
		}
	}
	return h.max
}

// bar is one of a histogram that is shown: times from Start up to End in seconds.
type bar struct {
	Start, End float64
	Count      int
}

// bars joins buckets into as many bars as say something for the number of times.
func (h *histogram) bars() []bar {
	if h.count == 0 {
		return nil
	}
	first, last := bucketOf(h.min), bucketOf(h.max)
	most := min(max(int(2*math.Cbrt(float64(h.count))), fewestBars), mostBars)
	width := 1
	for _, width = range []int{1, 2, 4, 5, 8, 10, 20, perDecade} {
		if last/width-first/width < most {
			break
		}
	}
	var bars []bar
	for start := first / width * width; start <= last; start += width {
		b := bar{Start: bucketStart(start), End: bucketStart(start + width)}
		for _, count := range h.buckets[start:min(start+width, len(h.buckets))] {
			b.Count += count
		}
		bars = append(bars, b)
	}
	return bars
}
