package mcp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// told is what was sent, and how long after the beginning.
type told struct {
	after time.Duration
	text  string
}

// tell runs a news in a bubble while call adds to it, and returns what was sent.
func tell(t *testing.T, call func(n *news)) (all []told) {
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		n := newNews(func(text string) { all = append(all, told{time.Since(began), text}) })
		ended := make(chan struct{})
		go func() {
			n.run()
			close(ended)
		}()
		call(n)
		close(n.stop)
		<-ended
	})
	return all
}

func output(text string) agent.Progress {
	return agent.Progress{Output: &sandbox.Output{Data: sandbox.Bytes(text)}}
}

func TestStatesComeAtOnceAndInOrder(t *testing.T) {
	t.Parallel()
	require.Equal(t, []told{
		{0, "queued (job 7)"}, {time.Second, "running (job 7)"}, {time.Second, "done"},
	}, tell(t, func(n *news) {
		n.add(agent.Progress{State: "queued", JobID: "7"})
		time.Sleep(time.Second)
		n.add(agent.Progress{State: "running", JobID: "7"})
		n.add(agent.Progress{State: "done"}) // the call ends here, and this one must not be lost
	}))
}

func TestOutputComesInPiecesNotInLines(t *testing.T) {
	t.Parallel()
	got := tell(t, func(n *news) {
		for i := range 100 { // a line each 7 ms, until 693 ms
			n.add(output(string(rune('a'+i%26)) + "\n"))
			time.Sleep(7 * time.Millisecond)
		}
	})
	require.Len(t, got, 3)
	require.Equal(t, told{0, "a\n"}, got[0])
	require.Equal(t, 250*time.Millisecond, got[1].after)
	require.True(t, strings.HasPrefix(got[1].text, "b\nc\nd\n"))
	require.Len(t, got[1].text, 2*35, "of 7 to 245 ms")
	require.Equal(t, 500*time.Millisecond, got[2].after)
	require.Len(t, got[2].text, 2*36, "of 252 to 497 ms")
}

func TestOutputIsTheLastOfMuch(t *testing.T) {
	t.Parallel()
	got := tell(t, func(n *news) {
		n.add(output("first"))
		synctest.Wait()
		n.add(output(strings.Repeat("x", 5000)))
		n.add(output("é\xff end"))
		time.Sleep(time.Second)
	})
	require.Len(t, got, 2)
	require.Equal(t, "first", got[0].text)
	// 2048 bytes: 2041 x, two of é, one that is no UTF-8 and becomes three, four of the end.
	require.Equal(t, strings.Repeat("x", 2041)+"é\uFFFD end", got[1].text)
}

func TestASilentCallSaysThatItGoesOn(t *testing.T) {
	t.Parallel()
	require.Equal(t, []told{
		{0, "running"},
		{10 * time.Second, "still running after 10 s"},
		{20 * time.Second, "still running after 20 s"},
		{22 * time.Second, "hello"},
		{32 * time.Second, "still running after 32 s"},
	}, tell(t, func(n *news) {
		n.add(agent.Progress{State: "running"})
		time.Sleep(22 * time.Second)
		n.add(output("hello"))
		time.Sleep(15 * time.Second)
	}))
}

func TestASlowClientDoesNotHoldUpTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, sent := make(chan struct{}), 0
		n := newNews(func(string) { <-reads; sent++ })
		ended := make(chan struct{})
		go func() {
			n.run()
			close(ended)
		}()
		for range 10_000 {
			n.add(output("line\n"))
		}
		synctest.Wait()
		require.LessOrEqual(t, len(n.output), outputLimit)
		close(reads)
		close(n.stop)
		<-ended
		require.Positive(t, sent)
	})
}
