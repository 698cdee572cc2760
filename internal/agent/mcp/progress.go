package mcp

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandloop/sandloop/internal/agent"
)

const (
	// outputEvery is the least time between two notifications with output.
	outputEvery = 250 * time.Millisecond
	// outputLimit is how many bytes of output, the last ones, a notification holds.
	outputLimit = 2048
	// silence is after how long without news a client is told that the call goes on, since many give up after
	// a minute without progress.
	silence = 10 * time.Second
)

// reporter returns what takes the progress of a call, and a function that sends what is left and returns when nothing
// more will be sent. A client that did not ask for progress gets none.
func (s *Server) reporter(ctx context.Context, request *sdk.CallToolRequest) (report func(agent.Progress), flush func()) {
	token := request.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	sent := 0.0
	n := newNews(func(message string) {
		if ctx.Err() != nil {
			return // a client that canceled wants no more
		}
		sent++
		_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: sent, Message: message})
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.run()
	}()
	return n.add, func() {
		close(n.stop)
		<-ended
	}
}

// news collects progress for a client that may read more slowly than a program writes.
type news struct {
	send func(message string)
	wake chan struct{}
	stop chan struct{}

	// mu guards what is not sent yet.
	mu     sync.Mutex
	states []string
	output []byte
}

func newNews(send func(string)) *news {
	return &news{send: send, wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// add never waits for the client.
func (n *news) add(p agent.Progress) {
	n.mu.Lock()
	if p.State != "" {
		n.states = append(n.states, stateMessage(p))
	}
	if p.Output != nil {
		n.output = append(n.output, p.Output.Data...)
		if over := len(n.output) - outputLimit; over > 0 {
			n.output = append([]byte(nil), n.output[over:]...)
		}
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func stateMessage(p agent.Progress) string {
	if p.JobID == "" {
		return p.State
	}
	return p.State + " (job " + p.JobID + ")"
}

// run sends states at once and output in pieces, until stop. Output that is left then is in the result anyway.
func (n *news) run() {
	began := time.Now()
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	var pause <-chan time.Time // until output may be sent again
	for {
		n.sendStates()
		if pause == nil && n.sendOutput() {
			pause = time.After(outputEvery)
			quiet.Reset(silence)
		}
		select {
		case <-n.stop:
			n.sendStates()
			return
		case <-n.wake:
			quiet.Reset(silence)
		case <-pause:
			pause = nil
		case <-quiet.C:
			n.send("still running after " + strconv.Itoa(int(time.Since(began).Seconds())) + " s")
			quiet.Reset(silence)
		}
	}
}

func (n *news) sendStates() {
	n.mu.Lock()
	states := n.states
	n.states = nil
	n.mu.Unlock()
	for _, state := range states {
		n.send(state)
	}
}

// sendOutput tells whether there was any.
func (n *news) sendOutput() bool {
	n.mu.Lock()
	output := n.output
	n.output = nil
	n.mu.Unlock()
	if len(output) == 0 {
		return false
	}
	n.send(strings.ToValidUTF8(string(output), "\uFFFD"))
	return true
}
