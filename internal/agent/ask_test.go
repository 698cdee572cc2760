package agent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func failure(kind ProviderErrorKind, after time.Duration) reply {
	return reply{text: []string{"void"}, err: &ProviderError{Kind: kind, Status: 529, RetryAfter: after, Message: "try later"}}
}

func TestFailuresThatPassAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		model := &fakeModel{replies: []reply{
			failure(Overloaded, 0), failure(RateLimited, 50*time.Second), failure(Unreachable, 0), failure(CutStream, 0), says("Done."),
		}}
		begun := time.Now()
		transcript := start(t, "Go.", model, Options{Observer: func(e Event) {
			if e.Kind == EventRetry {
				require.Contains(t, e.Text, "try later")
				waits = append(waits, e.Wait)
			}
		}})
		require.Equal(t, StopAnswer, transcript.Stop)
		require.Len(t, transcript.Messages, 2, "failures leave nothing in the transcript")
		require.Len(t, waits, 4)
		// 1 s, 4 s and 8 s, give or take a quarter; the second is what the provider asked for.
		require.InDelta(t, 1, waits[0].Seconds(), 0.25)
		require.Equal(t, 50*time.Second, waits[1])
		require.InDelta(t, 4, waits[2].Seconds(), 1)
		require.InDelta(t, 8, waits[3].Seconds(), 2)
		require.Equal(t, waits[0]+waits[1]+waits[2]+waits[3], time.Since(begun))
	})
}

func TestProviderThatGoesOnFailingEndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := &fakeModel{replies: []reply{calls(echo("a", ""))}}
		for range 9 {
			model.replies = append(model.replies, failure(Overloaded, 0))
		}
		transcript := start(t, "Go.", model, Options{})
		require.Equal(t, StopProvider, transcript.Stop)
		require.Equal(t, "after 5 tries: model provider: overloaded (status 529): try later", transcript.Problem)
		require.Len(t, transcript.Messages, 3, "what was said is kept")
		require.Len(t, model.replies, 4)
	})
}

func TestFailuresThatStayEndTheRunAtOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply reply
		want  string
	}{
		"key":      {failure(BadKey, 0), "model provider: key not accepted (status 529): try later"},
		"request":  {failure(BadRequest, 0), "model provider: request not accepted (status 529): try later"},
		"too long": {failure(RateLimited, time.Hour), "model provider: rate limit (status 529): try later; it asks to try again in 1h0m0s, which is longer than a run waits"},
		"other":    {reply{err: errors.New("broken")}, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transcript := start(t, "Go.", &fakeModel{replies: []reply{test.reply, says("never")}}, Options{})
			require.Equal(t, StopProvider, transcript.Stop)
			require.Equal(t, test.want, transcript.Problem)
		})
	}
}

func TestTimeOfTheRunEndsAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		transcript := start(t, "Go.", &fakeModel{replies: []reply{failure(RateLimited, 90*time.Second)}}, Options{WallTime: time.Minute})
		require.Equal(t, StopTime, transcript.Stop)
		require.Equal(t, time.Minute, time.Since(begun))
	})
}

func TestWaitsGrowAndAreBounded(t *testing.T) {
	t.Parallel()
	for try, want := range map[int]float64{1: 1, 2: 2, 5: 16, 6: 30, 20: 30} {
		require.InDelta(t, want, backoff(try).Seconds(), want/4)
	}
}
