package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
)

const (
	// redrawEvery is how often the bar on a terminal changes, and lineEvery how often a line comes
	// where there is none.
	redrawEvery = 200 * time.Millisecond
	lineEvery   = 5 * time.Second
	// rateWindow is the time over which the rate is a mean.
	rateWindow = 30 * time.Second
)

// progress shows how far a batch is: as a bar on a terminal, else as a line now and then. It
// is safe for concurrent use.
type progress struct {
	w     io.Writer
	width func() int // of the terminal; nil when there is none
	total int
	start time.Time
	stop  chan struct{}
	ended chan struct{}

	mu       sync.Mutex
	results  int // with those from earlier runs
	finished int // in this run
	verdicts map[grade.Verdict]int
	samples  []sample
	drawn    bool // there is a bar that must be wiped away
}

// sample is how much was finished at a time.
type sample struct {
	at       time.Time
	finished int
}

// newProgress begins to show the progress of a batch of so many entries. close ends it.
func newProgress(w io.Writer, total int) *progress {
	p := &progress{w: w, total: total, start: time.Now(), stop: make(chan struct{}), ended: make(chan struct{}), verdicts: map[grade.Verdict]int{}}
	every := lineEvery
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		every = redrawEvery
		p.width = func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil || width <= 0 {
				return 80
			}
			return width
		}
	}
	p.samples = []sample{{at: p.start}}
	go p.run(every)
	return p
}

func (p *progress) run(every time.Duration) {
	defer close(p.ended)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			p.show(now)
		case <-p.stop:
			return
		}
	}
}

// update takes over what is known by now.
func (p *progress) update(counts batch.Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results, p.finished = counts.Results(), counts.Finished
	for verdict, n := range counts.Verdicts {
		p.verdicts[verdict] = n
	}
}

// note says something without spoiling the bar.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	say(p.w, "%s", text)
}

// close ends the display and returns how long it was there.
func (p *progress) close() time.Duration {
	close(p.stop)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	return time.Since(p.start)
}

func (p *progress) wipe() {
	if p.drawn {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// show draws the bar, or writes a line if something has changed since the last.
func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.finished != p.samples[len(p.samples)-1].finished
	p.samples = append(p.samples, sample{now, p.finished})
	for len(p.samples) > 2 && now.Sub(p.samples[1].at) >= rateWindow {
		p.samples = p.samples[1:]
	}
	status := p.status(now)
	switch {
	case p.width != nil:
		_, _ = fmt.Fprintf(p.w, "\r%s\x1b[K", p.bar(status, p.width()))
		p.drawn = true
	case changed:
		say(p.w, "%d of %d judged, %s", p.results, p.total, status)
	}
}

// status is the rate, the time that is left and the verdicts.
func (p *progress) status(now time.Time) string {
	first := p.samples[0]
	rate := float64(p.finished-first.finished) / max(now.Sub(first.at).Seconds(), 0.001)
	parts := []string{fmt.Sprintf("%.1f/s", rate)}
	if left := p.total - p.results; left > 0 && rate > 0 {
		remaining := time.Duration(float64(left) / rate * float64(time.Second))
		parts = append(parts, remaining.Round(time.Second).String()+" left")
	}
	for _, verdict := range grade.Verdicts() {
		if n := p.verdicts[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", verdict, n))
		}
	}
	return strings.Join(parts, "  ")
}

// bar is one line of at most width-1 characters, so that the terminal does not break it.
func (p *progress) bar(status string, width int) string {
	const cells = 20
	done := cells
	if p.total > 0 {
		done = cells * p.results / p.total
	}
	line := fmt.Sprintf("[%s%s] %d/%d  %s", strings.Repeat("#", done), strings.Repeat(".", cells-done), p.results, p.total, status)
	return line[:min(len(line), max(width-1, 0))]
}
