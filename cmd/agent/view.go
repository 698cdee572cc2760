package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// redrawEvery is how often the status line of a terminal changes.
const redrawEvery = 200 * time.Millisecond

// view shows a run to people as it goes: the model's text on the standard output, and all that it does on standard
// error. It is safe for concurrent use.
type view struct {
	mu     sync.Mutex
	screen *screen
	text   *cli.Disarmer
	calls  map[string]*callView
	// turn are the calls of the turn. Several run side by side and are told apart by numbers.
	turn []agent.ToolCall
	// asked is when the model was asked for what it has not begun to say; zero when it is not its turn.
	asked time.Time

	stop, stopped chan struct{}
}

// newView begins to show. close ends it.
func newView(stdout, stderr io.Writer, getenv func(string) string) *view {
	v := &view{
		screen: &screen{
			out: stdout, err: stderr, palette: newPalette(stderr, getenv),
			width: func() int { return terminalWidth(stderr) },
		},
		calls: map[string]*callView{}, stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	v.text = cli.NewDisarmer(said{v})
	if v.screen.palette.on {
		go v.animate()
	} else {
		close(v.stopped)
	}
	return v
}

// said writes the model's text.
type said struct{ v *view }

func (s said) Write(data []byte) (int, error) {
	s.v.screen.say(s.v, string(data))
	return len(data), nil
}

func (v *view) animate() {
	defer close(v.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			v.mu.Lock()
			v.screen.status(v.status(now))
			v.mu.Unlock()
		case <-v.stop:
			return
		}
	}
}

// close ends the status line.
func (v *view) close() {
	close(v.stop)
	<-v.stopped
	v.mu.Lock()
	defer v.mu.Unlock()
	v.screen.take(nil)
}

// note says something of ours in between.
func (v *view) note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.screen.line(v.screen.palette.paint(notice, programName+": "+cli.Printable(fmt.Sprintf(format, args...))))
}

// status is what goes on at the moment, with how long it has taken.
func (v *view) status(now time.Time) string {
	if !v.asked.IsZero() {
		return "waiting for the model " + seconds(now.Sub(v.asked))
	}
	var words []string
	for _, c := range sortedCalls(v.calls) {
		words = append(words, c.status(now))
	}
	return strings.Join(words, "  ")
}

// hear shows an event. The error means that there is nobody left to show anything to.
func (v *view) hear(e agent.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Kind {
	case agent.EventTurn:
		v.asked = e.Time
	case agent.EventText:
		v.asked = time.Time{}
		_, _ = v.text.Write([]byte(e.Text))
	case agent.EventRetry:
		v.asked = time.Time{}
		v.endText()
		v.screen.line(v.screen.palette.paint(notice, fmt.Sprintf("%s: %s; asking again in %s", programName, cli.Printable(e.Text), seconds(e.Wait))))
	case agent.EventTurnDone:
		v.asked = time.Time{}
		v.endText()
		v.turn = lastCalls(e.Transcript)
	case agent.EventCall:
		v.begin(e)
	case agent.EventProgress:
		v.calls[e.Call.ID].progress(e)
	case agent.EventResult:
		v.calls[e.Call.ID].end(e)
		delete(v.calls, e.Call.ID)
	}
	return v.screen.failed
}

func (v *view) endText() {
	_ = v.text.Flush()
	v.screen.endText(v)
}

// begin shows a call that begins.
func (v *view) begin(e agent.Event) {
	number := slices.IndexFunc(v.turn, func(call agent.ToolCall) bool { return call.ID == e.Call.ID })
	label := ""
	if len(v.turn) > 1 {
		label = fmt.Sprintf("[%d] ", number+1)
	}
	c := &callView{screen: v.screen, label: label, number: number, tool: cli.Printable(e.Call.Name), state: "begun", began: e.Time}
	v.calls[e.Call.ID] = c
	c.begin(*e.Call)
}

// lastCalls are those of the turn that ended just now.
func lastCalls(t *agent.Transcript) []agent.ToolCall {
	if t == nil || len(t.Messages) == 0 {
		return nil
	}
	return t.Messages[len(t.Messages)-1].Calls
}

// seconds writes a duration for people: 0.31 s, 12.5 s, 3m20s.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
