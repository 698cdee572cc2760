package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func start(t *testing.T, task string, model *fakeModel, options Options) *Transcript {
	t.Helper()
	if options.Tools == nil {
		options.Tools = &fakeTools{}
	}
	transcript, err := Run(t.Context(), task, model, options)
	require.NoError(t, err)
	requireAnswered(t, transcript)
	return transcript
}

func TestModelAnswersAfterItsCalls(t *testing.T) {
	t.Parallel()
	first := calls(echo("a", `{"x":"one"}`), echo("b", `{"x":"two"}`))
	first.turn.Usage, first.turn.Model, first.turn.Text = Usage{Input: 10, Output: 5}, "m-1", "I look."
	last := says("Done.")
	last.turn.Usage = Usage{Input: 20, Output: 2, CacheRead: 7}
	model := &fakeModel{replies: []reply{first, last}}
	transcript := start(t, "Say it twice.", model, Options{})
	require.Equal(t, StopAnswer, transcript.Stop)
	require.Empty(t, transcript.Problem)
	require.Equal(t, DefaultSystem, transcript.System)
	require.Equal(t, "m-1", transcript.Model)
	require.Equal(t, Usage{Input: 30, Output: 7, CacheRead: 7}, transcript.Usage)
	require.EqualValues(t, 44, transcript.Usage.Total())
	var said []string
	for _, m := range transcript.Messages {
		said = append(said, string(m.Role)+": "+m.Text)
	}
	require.Equal(t, []string{"user: Say it twice.", "assistant: I look.", "tool: ", "assistant: Done."}, said)
	got := results(t, transcript, 2)
	require.Equal(t, "echo one", got[0].Text)
	require.Equal(t, "echo two", got[1].Text)
	require.Equal(t, "echo", got[1].Name)
	require.False(t, got[0].IsError)
	require.Len(t, model.shown[1].Messages, 3, "the second turn is asked for with the results")
}

func TestCallsOfATurnRunSideBySideUpToTheBound(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	gate := make(chan struct{})
	var once sync.Once
	tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
		"echo": func(context.Context, ToolCall, func(Progress)) ToolResult {
			now := running.Add(1)
			defer running.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			if now == 2 {
				once.Do(func() { close(gate) })
			}
			<-gate // both are here at the same time, or the test hangs
			return ToolResult{}
		},
	}}
	model := &fakeModel{replies: []reply{calls(echo("a", ""), echo("b", ""), echo("c", ""), echo("d", "")), says("Done.")}}
	start(t, "Go.", model, Options{Tools: tools, MaxParallel: 2})
	require.EqualValues(t, 2, most.Load())
	require.Equal(t, "{}", tools.calls[0].Arguments, "no arguments are an empty object")
}

func TestWhatIsWrongWithACallIsAResult(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call ToolCall
		want string
	}{
		"unknown tool": {ToolCall{ID: "a", Name: "rm", Arguments: "{}"}, `There is no tool "rm". The tools are echo, other.`},
		"no JSON":      {echo("a", `{"x": `), "The arguments of echo are not a JSON object (unexpected EOF). Call it again"},
		"a list":       {echo("a", `[1]`), "The arguments of echo are not a JSON object (cannot unmarshal array"},
		"null":         {echo("a", `null`), "The arguments of echo are not a JSON object (they are null)."},
		"two objects":  {echo("a", `{} {}`), `Something follows the JSON object in the arguments of echo: "{}".`},
		"a panic":      {ToolCall{ID: "a", Name: "other"}, "The tool other failed in itself (boom). This is not your doing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
				"other": func(context.Context, ToolCall, func(Progress)) ToolResult { panic("boom") },
			}}
			transcript := start(t, "Go.", &fakeModel{replies: []reply{calls(test.call), says("Done.")}}, Options{Tools: tools})
			require.Equal(t, StopAnswer, transcript.Stop)
			got := results(t, transcript, 2)[0]
			require.True(t, got.IsError)
			require.Contains(t, got.Text, test.want)
		})
	}
}

func TestWithoutToolsTheModelIsToldSo(t *testing.T) {
	t.Parallel()
	transcript, err := Run(t.Context(), "Go.", &fakeModel{replies: []reply{calls(echo("a", "")), says("Done.")}}, Options{})
	require.NoError(t, err)
	require.Contains(t, results(t, transcript, 2)[0].Text, "nor any other: answer without tools")
}

func TestIDsThatAreMissingOrRepeatedAreMadeDistinct(t *testing.T) {
	t.Parallel()
	model := &fakeModel{replies: []reply{calls(echo("a", `{"x":"1"}`), echo("a", `{"x":"2"}`), echo("", `{"x":"3"}`), echo("a-2", `{"x":"4"}`)), says("Done.")}}
	transcript := start(t, "Go.", model, Options{})
	got := results(t, transcript, 2)
	ids := map[string]string{}
	for _, result := range got {
		ids[result.CallID] = result.Text
	}
	require.Len(t, ids, 4)
	require.Equal(t, "echo 1", ids["a"])
	require.Equal(t, "echo 2", ids["a-2"])
	require.Equal(t, "echo 3", ids["call-3"])
}

func TestRunEndsAtItsBoundOfTurns(t *testing.T) {
	t.Parallel()
	tools := &fakeTools{}
	model := &fakeModel{replies: []reply{calls(echo("a", `{"x":"1"}`)), calls(echo("b", `{"x":"2"}`)), calls(echo("c", `{"x":"3"}`)), says("never")}}
	transcript := start(t, "Go.", model, Options{Tools: tools, MaxIterations: 3})
	require.Equal(t, StopIterations, transcript.Stop)
	require.Equal(t, "the model did not come to an answer within the bound of turns, which is 3", transcript.Problem)
	require.Equal(t, "echo 1", results(t, transcript, 2)[0].Text)
	require.Equal(t, "echo 2\n\n[The next turn is the last one: answer in it, no further call will be run.]", results(t, transcript, 4)[0].Text)
	require.Contains(t, results(t, transcript, 6)[0].Text, "Not run, since the run has no further turn")
	require.Len(t, tools.calls, 2)
}

func TestNoTurnBeginsAboveTheBoundOfTokens(t *testing.T) {
	t.Parallel()
	first := calls(echo("a", ""))
	first.turn.Usage = Usage{Input: 90, Output: 10}
	transcript := start(t, "Go.", &fakeModel{replies: []reply{first, says("never")}}, Options{MaxTokens: 100})
	require.Equal(t, StopTokens, transcript.Stop)
	require.Equal(t, "100 tokens were used, and the bound is 100", transcript.Problem)
}

func TestTimeOfTheRunEndsItsCallsAndItsTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
			"other": func(ctx context.Context, _ ToolCall, _ func(Progress)) ToolResult {
				<-ctx.Done()
				return ToolResult{IsError: true, Text: "canceled"}
			},
		}}
		transcript := start(t, "Go.", &fakeModel{replies: []reply{calls(ToolCall{ID: "a", Name: "other"})}}, Options{Tools: tools, WallTime: time.Minute})
		require.Equal(t, StopTime, transcript.Stop)
		require.Equal(t, "the run took longer than its bound of 1m0s", transcript.Problem)
		require.Equal(t, "canceled", results(t, transcript, 2)[0].Text)
		require.Equal(t, time.Minute, results(t, transcript, 2)[0].Duration)

		transcript = start(t, "Go.", &fakeModel{replies: []reply{{wait: true}}}, Options{})
		require.Equal(t, StopTime, transcript.Stop)
		require.Equal(t, "the run took longer than its bound of 10m0s", transcript.Problem)
	})
}

func TestEndOfTheContextKeepsTheTranscript(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
		"other": func(context.Context, ToolCall, func(Progress)) ToolResult {
			cancel(errors.New("somebody pressed a key"))
			return ToolResult{Text: "half"}
		},
	}}
	model := &fakeModel{replies: []reply{calls(ToolCall{ID: "a", Name: "other"}), says("never")}}
	transcript, err := Run(ctx, "Go.", model, Options{Tools: tools})
	require.NoError(t, err)
	require.Equal(t, StopCanceled, transcript.Stop)
	require.Equal(t, "the run was canceled: somebody pressed a key", transcript.Problem)
	require.Equal(t, "half", results(t, transcript, 2)[0].Text)
	require.Len(t, model.shown, 1)
}

func TestTurnsThatAreNoAnswerAndNoCall(t *testing.T) {
	t.Parallel()
	cut := says("The answer is forty-")
	cut.turn.Finish = FinishLength
	pause := says("Let me think.")
	pause.turn.Finish, pause.turn.Opaque = FinishPause, []byte(`"signed"`)
	model := &fakeModel{replies: []reply{says(" \n"), pause, cut, says("two.")}}
	transcript := start(t, "Go.", model, Options{})
	require.Equal(t, StopAnswer, transcript.Stop)
	var said []string
	for _, m := range transcript.Messages[1:] {
		said = append(said, string(m.Role)+": "+m.Text)
	}
	require.Equal(t, []string{
		"user: You said nothing and called no tool. Go on with the task, or answer if it is done.",
		"assistant: Let me think.", "assistant: The answer is forty-",
		"user: Your answer was cut at its limit of tokens. Go on from where it ended.", "assistant: two.",
	}, said)
	require.JSONEq(t, `"signed"`, string(transcript.Messages[2].Opaque))

	transcript = start(t, "Go.", &fakeModel{replies: []reply{says(""), says("")}}, Options{})
	require.Equal(t, StopProvider, transcript.Stop)
	require.Equal(t, "the model twice said nothing and called no tool", transcript.Problem)
}

func TestCallsOfATurnThatWasCutAreNotRun(t *testing.T) {
	t.Parallel()
	cut := calls(echo("a", `{"x":"whole"}`), echo("b", `{"x":"ha`))
	cut.turn.Finish = FinishLength
	tools := &fakeTools{}
	transcript := start(t, "Go.", &fakeModel{replies: []reply{cut, says("Done.")}}, Options{Tools: tools})
	require.Equal(t, StopAnswer, transcript.Stop)
	require.Empty(t, tools.calls)
	for _, result := range results(t, transcript, 2) {
		require.True(t, result.IsError)
		require.Contains(t, result.Text, "your turn was cut at its limit of tokens")
	}
}

func TestRefusalEndsTheRun(t *testing.T) {
	t.Parallel()
	refusal := calls(echo("a", ""))
	refusal.turn.Finish, refusal.turn.Text = FinishRefusal, "I do not do that."
	tools := &fakeTools{}
	transcript := start(t, "Go.", &fakeModel{replies: []reply{refusal}}, Options{Tools: tools})
	require.Equal(t, StopRefusal, transcript.Stop)
	require.Equal(t, "I do not do that.", transcript.Messages[1].Text)
	require.Empty(t, tools.calls)
}

func TestLongResultsLoseTheirMiddle(t *testing.T) {
	t.Parallel()
	tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
		"other": func(context.Context, ToolCall, func(Progress)) ToolResult {
			return ToolResult{Text: strings.Repeat("a", 19) + "€" + strings.Repeat("b", 30) + "€" + strings.Repeat("c", 9)}
		},
	}}
	transcript := start(t, "Go.", &fakeModel{replies: []reply{calls(ToolCall{ID: "a", Name: "other"}), says("Done.")}}, Options{Tools: tools, ResultLimit: 30})
	// Two thirds are 20 bytes, in the middle of a sign; the last third is 10, likewise.
	require.Equal(t, strings.Repeat("a", 19)+"\n[36 bytes are left out here]\n"+strings.Repeat("c", 9), results(t, transcript, 2)[0].Text)
}

func TestWrongUseIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), " ", &fakeModel{}, Options{})
	require.EqualError(t, err, "run agent: the task is empty")
	_, err = Run(t.Context(), "Go.", nil, Options{})
	require.EqualError(t, err, "run agent: there is no model")
}

func TestObserverHearsOneThingAtATimeAndInOrder(t *testing.T) {
	t.Parallel()
	first := calls(ToolCall{ID: "a", Name: "other"})
	first.text = []string{"I ", "look."}
	tools := &fakeTools{tools: map[string]func(context.Context, ToolCall, func(Progress)) ToolResult{
		"other": func(_ context.Context, _ ToolCall, progress func(Progress)) ToolResult {
			progress(Progress{State: "running", JobID: "j"})
			progress(Progress{Output: &sandbox.Output{Data: []byte("out")}})
			return ToolResult{Text: "fine"}
		},
	}}
	var heard []string
	var busy atomic.Bool
	start(t, "Go.", &fakeModel{replies: []reply{first, says("Done.")}}, Options{Tools: tools, Observer: func(e Event) {
		require.True(t, busy.CompareAndSwap(false, true))
		defer busy.Store(false)
		line := string(e.Kind) + " " + e.Text
		if e.Progress != nil {
			line += e.Progress.State
		}
		if e.Result != nil {
			line += e.Result.Text
		}
		heard = append(heard, strings.TrimSpace(line+string(e.Stop)))
	}})
	require.Equal(t, []string{
		"turn", "text I", "text look.", "turn_done", "call", "progress running", "progress", "result fine", "results_done",
		"turn", "turn_done Done.", "end answer",
	}, heard)
}
