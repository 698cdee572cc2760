package testenv

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Scale returns how long a test may wait, on this machine, for what takes at most d on a
// usual one: d times SANDLOOP_TIME_SCALE, a number of at least 1 that is set where the
// processor is emulated. It is for upper bounds and deadlines of tests alone: limits that a
// program is given stay as they are.
func Scale(t testing.TB, d time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("SANDLOOP_TIME_SCALE")
	if text == "" {
		return d
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor >= 1 && factor <= 1000) { // NaN fails both
		t.Fatalf("SANDLOOP_TIME_SCALE=%q: want a number from 1 to 1000", text)
	}
	return time.Duration(float64(d) * factor)
}
