package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
)

// counts are those of a batch of which some entries had results before.
func counts(skipped int, verdicts map[grade.Verdict]int) batch.Counts {
	c := batch.Counts{Skipped: skipped, Verdicts: verdicts}
	for _, n := range verdicts {
		c.Finished += n
	}
	c.Finished -= skipped
	c.Submitted = c.Finished
	return c
}

func TestProgressIsALineNowAndThen(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, 200)
	p.show(p.start.Add(time.Second))
	require.Empty(t, out.String(), "nothing has changed")
	p.update(counts(20, map[grade.Verdict]int{grade.AC: 50, grade.WA: 10}))
	p.show(p.start.Add(10 * time.Second))
	require.Equal(t, "enqueue: 60 of 200 judged, 4.0/s  35s left  AC 50  WA 10\n", out.String())
	p.note("Redis answers again")
	p.close()
	require.True(t, strings.HasSuffix(out.String(), "WA 10\nenqueue: Redis answers again\n"), out.String())
}

func TestTheRateIsThatOfTheLastHalfMinute(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, 1000)
	p.show(p.start.Add(40 * time.Second)) // long nothing
	p.update(counts(0, map[grade.Verdict]int{grade.AC: 300}))
	p.show(p.start.Add(70 * time.Second))
	p.close()
	require.Contains(t, out.String(), "300 of 1000 judged, 10.0/s  1m10s left  AC 300")
}

func TestProgressOnATerminalIsABarThatFits(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newProgress(&out, 10)
	p.width = func() int { return 40 }
	p.update(counts(0, map[grade.Verdict]int{grade.AC: 4, grade.TLE: 1}))
	p.show(p.start.Add(5 * time.Second))
	require.Equal(t, "\r[##########..........] 5/10  1.0/s  5s \x1b[K", out.String())
	p.note("no worker is running")
	p.close()
	require.True(t, strings.HasSuffix(out.String(), "\r\x1b[Kenqueue: no worker is running\n"), "%q", out.String())
}
