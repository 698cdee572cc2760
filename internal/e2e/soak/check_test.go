package soak

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

func forgetful() Fault { return Fault{Kind: "redis loses", Forgets: true} }

func TestHistoriesInWhichEveryPromiseWasKept(t *testing.T) {
	t.Parallel()
	for name, history := range map[string]*tale{
		"one job": begin().handIn("a", 1).final("a", 100, right(3)),
		"a job that could not be handed in before the end": begin().handIn("a", 1).final("a", 100, right(3)).
			add(5, Event{Kind: Planned, Job: "b", Want: wanted()}).add(6, Event{Kind: Refused, Job: "b", Text: "connection refused"}),
		"seen twice and the same": begin().handIn("a", 1).add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).
			add(5, Event{Kind: Sighted, Job: "a", Got: right(3)}).final("a", 100, right(3)),
		"handed in again": begin().handIn("a", 1).add(2, Event{Kind: Accepted, Job: "a", Again: true}).final("a", 100, right(3)),
		"a lost worker and a second attempt": begin().handIn("a", 1).
			broken(4, 10, Fault{Kind: FaultKilled, Target: "w1", Says: []Said{{"worker was lost", "w1"}}}).
			says(11, "worker was lost", "", `{"lost":"w1"}`).final("a", 100, retried(12)),
		"given up while all was broken": begin().handIn("a", 1).broken(1, 60, Fault{Kind: "dockerd stopped"}).final("a", 100, givenUp()),
		"given back by stopping workers, which costs nothing": begin().handIn("a", 1).broken(1, 60, Fault{Kind: "worker SIGTERM"}).
			final("a", 100, attempts("ok", "worker shut down", "worker shut down", "worker shut down", "boom", "")),
		"canceled while it waited":                  begin().handIn("a", 1).add(2, Event{Kind: Canceled, Job: "a", Text: CancelCanceled}).final("a", 100, canceled(2)),
		"canceled while it ran":                     begin().handIn("a", 1).add(2, Event{Kind: Canceled, Job: "a", Text: CancelRunning}).final("a", 100, canceled(3)),
		"canceled when it was all but done":         begin().handIn("a", 1).add(2, Event{Kind: Canceled, Job: "a", Text: CancelRunning}).final("a", 100, right(3)),
		"canceled by a wish that was not confirmed": begin().handIn("a", 1).add(2, Event{Kind: CancelAsked, Job: "a"}).final("a", 100, canceled(2)),
		"a wish that nobody heard of":               begin().handIn("a", 1).add(2, Event{Kind: CancelAsked, Job: "a"}).final("a", 100, right(3)),
		"canceled when it was done":                 begin().handIn("a", 1).add(4, Event{Kind: Canceled, Job: "a", Text: CancelDone}).final("a", 100, right(3)),
		"canceled while its worker was cut off": begin().handIn("a", 1).broken(2, 60, Fault{Kind: "redis unreachable"}).
			add(3, Event{Kind: Canceled, Job: "a", Text: CancelRunning}).final("a", 100, right(61)),
		"forgotten by a Redis that forgets, and handed in again": begin().handIn("a", 1).broken(2, 3, forgetful()).
			add(4, Event{Kind: Vanished, Job: "a"}).add(5, Event{Kind: Accepted, Job: "a"}).final("a", 100, right(8)),
		"a result that a Redis that forgets lost, and another": begin().handIn("a", 1).add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).
			says(3, logDone, "a", "").broken(4.5, 5, forgetful()).says(9, logDone, "a", "").final("a", 100, another(9)),
		"the same, with the second worker's log before the first's": begin().handIn("a", 1).add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).
			broken(4.5, 5, forgetful()).says(9, logDone, "a", "").says(3, logDone, "a", "").final("a", 100, another(9)),
		"a result that was seen, and of which a Redis that forgets lost the whole job": begin().handIn("a", 1).add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).
			broken(4.5, 5, forgetful()).add(99, Event{Kind: Unfinished, Job: "a", Text: "job a: no such job"}),
		"a worker that was found lost before it was killed": begin().handIn("a", 1).broken(2, 60, Fault{Kind: "redis silent"}).
			says(10, "worker was lost", "", `{"lost":"w1"}`).
			broken(20, 30, Fault{Kind: FaultKilled, Target: "w1", Says: []Said{{"worker was lost", "w1"}}}).final("a", 100, retried(12)),
		"a time limit that left no time to write": begin().add(1, Event{Kind: Planned, Job: "a", Want: &Want{Outcome: "wall_timeout", Stdout: "begun\n", Total: 6, Partial: true}}).
			add(1, Event{Kind: Accepted, Job: "a"}).final("a", 100, &Got{Outcome: "wall_timeout", ExitCode: -1, Attempts: right(3).Attempts, Submitted: at(1), Finished: at(3)}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations, _ := history.check(t)
			require.Empty(t, violations)
		})
	}
}

// retried is a result of w2 after w1 was lost.
func retried(second float64) *Got {
	got := right(13)
	got.Attempts = []jobs.Attempt{
		{Number: 1, Worker: "w1", Started: at(3), Ended: at(second - 0.5), Error: "worker lost"},
		{Number: 2, Worker: "w2", Started: at(second), Ended: at(13)},
	}
	return got
}

// attempts is a result with attempts of a second each that ended with these errors.
func attempts(outcome string, errors ...string) *Got {
	got := right(20)
	got.Outcome, got.Attempts = outcome, nil
	for i, text := range errors {
		n := float64(i)
		got.Attempts = append(got.Attempts, jobs.Attempt{Number: i + 1, Worker: "w1", Started: at(2 + n), Ended: at(3 + n), Error: text})
	}
	return got
}

func givenUp() *Got { return attempts("infra_error", "boom", "boom", "worker lost") }

func canceled(finished float64) *Got {
	return &Got{Outcome: "canceled", ExitCode: -1, Print: "c", Submitted: at(1), Finished: at(finished)}
}

// another is a right result that is not the first one.
func another(finished float64) *Got {
	got := right(finished)
	got.Print = "q"
	return got
}

func changed(change func(*Got)) *Got {
	got := right(3)
	change(got)
	return got
}

func TestHistoriesInWhichAPromiseWasBroken(t *testing.T) {
	t.Parallel()
	handed := func() *tale { return begin().handIn("a", 1) }
	for name, test := range map[string]struct {
		history *tale
		rule    string
		text    string
	}{
		"no result":                    {handed(), ruleOne, "it has 0"},
		"lost without ever being seen": {handed().broken(4, 5, forgetful()).add(99, Event{Kind: Unfinished, Job: "a", Text: "job a: no such job"}), ruleOne, "it has 0"},
		"lost long before Redis forgot": {handed().add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).broken(60, 61, forgetful()).
			add(99, Event{Kind: Unfinished, Job: "a", Text: "job a: no such job"}), ruleOne, "it has 0"},
		"a lost worker that was named long before": {handed().broken(2, 5, Fault{Kind: "redis silent"}).says(4, "worker was lost", "", `{"lost":"w1"}`).
			broken(40, 45, Fault{Kind: FaultKilled, Target: "w1", Says: []Said{{"worker was lost", "w1"}}}).final("a", 100, right(3)), ruleNamed, "no worker said any of"},
		"still running at the end":         {handed().add(99, Event{Kind: Unfinished, Job: "a", Text: "running"}), ruleOne, "it has 0"},
		"two results":                      {handed().final("a", 99, right(3)).final("a", 100, right(3)), ruleOne, "it has 2"},
		"a result of nothing":              {handed().final("a", 99, right(3)).final("b", 100, right(3)), ruleKnown, "it was planned 0 times"},
		"blamed on the program":            {handed().final("a", 99, changed(func(g *Got) { g.Outcome, g.ExitCode = "signaled", 137 })), ruleRight, `outcome "signaled" instead of "ok"`},
		"blamed for a moment":              {handed().add(4, Event{Kind: Sighted, Job: "a", Got: changed(func(g *Got) { g.ExitCode = 1 })}).final("a", 99, right(3)), ruleRight, "exit code 1 instead of 0"},
		"another's output":                 {handed().final("a", 99, changed(func(g *Got) { g.Stdout = "ho\n" })), ruleRight, `output "ho\n" instead of "hi\n"`},
		"half of the output":               {handed().final("a", 99, changed(func(g *Got) { g.Stdout = "h" })), ruleRight, `output "h" instead of "hi\n"`},
		"a wrong count":                    {handed().final("a", 99, changed(func(g *Got) { g.Total = 6 })), ruleRight, "6 bytes of output instead of 3"},
		"a verdict on what is no test":     {handed().final("a", 99, changed(func(g *Got) { g.Verdict = "IE" })), ruleRight, `verdict "IE" instead of ""`},
		"rejected":                         {handed().final("a", 99, changed(func(g *Got) { g.Outcome = "rejected" })), ruleRight, `outcome "rejected"`},
		"a result that changed":            {handed().add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).final("a", 99, another(9)), ruleStable, "seen with two results"},
		"changed long before Redis forgot": {handed().add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).broken(60, 61, forgetful()).final("a", 99, another(90)), ruleStable, "two results"},
		"changed before Redis forgot":      {handed().add(4, Event{Kind: Sighted, Job: "a", Got: right(3)}).add(5, Event{Kind: Sighted, Job: "a", Got: another(4)}).broken(6, 7, forgetful()).final("a", 99, another(4)), ruleStable, "two results"},
		"given up without a reason":        {handed().final("a", 99, givenUp()), ruleReason, "attempt 1 failed while nothing was broken: boom"},
		"given up long after the reason":   {begin().broken(1, 2, Fault{Kind: "dockerd stopped"}).handIn("a", 200).final("a", 999, shifted(givenUp(), 300)), ruleReason, "nothing was broken"},
		"given up too soon":                {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("infra_error", "boom", "boom")), ruleAttempts, "given up after 2 failed attempts: want 3"},
		"given up although it worked":      {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("infra_error", "boom", "boom", "")), ruleAttempts, "given up after 2 failed attempts"},
		"tried too often":                  {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("infra_error", "boom", "boom", "boom", "boom")), ruleAttempts, "4 attempts failed: want at most 3"},
		"tried once more than allowed":     {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("ok", "boom", "boom", "boom", "")), ruleAttempts, "run once more after 3 attempts had failed"},
		"two attempts gave it":             {handed().final("a", 99, attempts("ok", "", "")), ruleAttempts, "2 attempts gave a result"},
		"tried again after the result":     {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("ok", "", "boom")), ruleAttempts, "tried again after an attempt had given the result"},
		"no attempt gave it":               {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, attempts("ok", "boom")), ruleAttempts, "no attempt gave the result"},
		"attempts out of order":            {handed().broken(1, 60, Fault{Kind: "x"}).final("a", 99, swapped(attempts("ok", "boom", ""))), ruleAttempts, "attempt 1 comes after attempt 2"},
		"an attempt that ends too early":   {handed().final("a", 99, changed(func(g *Got) { g.Attempts[0].Ended = at(1) })), ruleAttempts, "attempt 1 ended before it started"},
		"canceled by nobody":               {handed().final("a", 99, canceled(3)), ruleUnasked, "it is"},
		"canceled and run all the same":    {handed().add(2, Event{Kind: Canceled, Job: "a", Text: CancelCanceled}).final("a", 99, right(3)), ruleCanceled, "confirmed as canceled and ended as ok"},
		"canceled and run for long":        {handed().add(2, Event{Kind: Canceled, Job: "a", Text: CancelRunning}).final("a", 99, right(40)), ruleCanceled, "went on for 38s and ended as ok"},
		"canceled at last":                 {handed().add(2, Event{Kind: Canceled, Job: "a", Text: CancelRunning}).final("a", 99, canceled(40)), ruleCanceled, "went on for 38s and ended as canceled"},
		"said to be done too early":        {handed().add(2, Event{Kind: Canceled, Job: "a", Text: CancelDone}).final("a", 99, right(3)), ruleCanceled, "said to be done and ended 1s later as ok"},
		"stored twice":                     {handed().says(3, logDone, "a", "").says(9, logDone, "a", "").final("a", 99, right(3)), ruleOnce, "stored a result of it twice"},
		"forgotten for no reason":          {handed().add(4, Event{Kind: Vanished, Job: "a"}).add(5, Event{Kind: Accepted, Job: "a", Again: true}).broken(60, 61, forgetful()).final("a", 99, right(8)), ruleVanished, "it was"},
		"made anew":                        {handed().add(2, Event{Kind: Accepted, Job: "a"}).final("a", 99, right(3)), ruleSubmitted, "it was made anew"},
		"a container is left":              {handed().final("a", 99, right(3)).add(200, Event{Kind: Left, Text: "sandloop-job-a-1 running"}), ruleClean, "sandloop-job-a-1 running"},
		"a fault that nobody named":        {handed().broken(4, 10, Fault{Kind: "x", Says: []Said{{"worker was lost", "w1"}}}).says(11, "worker was lost", "", `{"lost":"w2"}`).final("a", 99, right(3)), ruleNamed, "of x"},
		"a fault that was named too late":  {handed().broken(4, 10, Fault{Kind: "x", Says: []Said{{"worker was lost", ""}}}).says(200, "worker was lost", "", "").final("a", 99, right(3)), ruleNamed, "of x"},
		"a fault that was named before":    {handed().says(1, "worker was lost", "", "").broken(4, 10, Fault{Kind: "x", Says: []Said{{"worker was lost", ""}}}).final("a", 99, right(3)), ruleNamed, "of x"},
		"a fault that was not lifted":      {handed().final("a", 99, right(3)).add(100, Event{Kind: FaultBegun, Fault: &Fault{ID: 7, Kind: "disk full"}}), ruleFault, "disk full was not"},
		"no job at all":                    {begin(), ruleWhole, "there is no job in it"},
		"no beginning":                     {(&tale{}).add(1, Event{Kind: Planned, Job: "a", Want: wanted()}), ruleWhole, "does not begin with the beginning"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations, _ := test.history.check(t)
			require.NotEmpty(t, violations)
			for _, v := range violations {
				require.Equal(t, test.rule, v.Rule, v.String())
			}
			require.Contains(t, violations[0].Text, test.text)
			if test.rule != ruleWhole {
				require.NotEmpty(t, violations[0].Lines)
				require.Contains(t, violations[0].String(), violations[0].Lines[0].Raw)
			}
		})
	}
}

func swapped(got *Got) *Got {
	got.Attempts[0], got.Attempts[1] = got.Attempts[1], got.Attempts[0]
	return got
}

func shifted(got *Got, seconds float64) *Got {
	by := time.Duration(seconds * float64(time.Second))
	got.Submitted, got.Finished = got.Submitted.Add(by), got.Finished.Add(by)
	for i := range got.Attempts {
		got.Attempts[i].Started, got.Attempts[i].Ended = got.Attempts[i].Started.Add(by), got.Attempts[i].Ended.Add(by)
	}
	return got
}

func TestAHistoryThatStopsInTheMiddleProvesNothing(t *testing.T) {
	t.Parallel()
	whole := *begin().handIn("a", 1).final("a", 99, right(3))
	violations, _ := Check(whole)
	require.Len(t, violations, 1)
	require.Equal(t, ruleWhole, violations[0].Rule)
	require.Equal(t, "it stops before the end of the run", violations[0].Text)
	violations, figures := Check(nil)
	require.Equal(t, "it is empty", violations[0].Text)
	require.Zero(t, figures.Jobs)
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	recorder, err := Create(path)
	require.NoError(t, err)
	recorder.Add(Event{At: at(0), Kind: Begun, Bound: 3})
	recorder.Add(Event{At: at(1), Kind: Final, Job: "a", Got: right(3)})
	recorder.Add(Event{Kind: Ended})
	require.NoError(t, recorder.Close())
	events, err := ReadFile(path)
	require.NoError(t, err)
	require.Len(t, events, 3)
	require.Equal(t, right(3), events[1].Got)
	require.Equal(t, 2, events[1].Line)
	require.WithinDuration(t, time.Now(), events[2].At, time.Hour)

	require.NoError(t, os.WriteFile(path, []byte(events[0].Raw+"\n{\"at\": 5}\n"), 0o600))
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "read history: line 2: ")
	_, err = ReadFile(path + ".missing")
	require.ErrorContains(t, err, "open history: ")
}

func TestFigures(t *testing.T) {
	t.Parallel()
	history := begin().
		handIn("a", 1).final("a", 500, right(3)).                                                          // 2 s
		handIn("b", 1).broken(4, 10, Fault{Kind: FaultKilled, Target: "w1"}).final("b", 500, retried(12)). // 12 s, recovered 8 s after
		handIn("e", 1).final("e", 500, retried(3.9)).                                                      // 12 s; its first attempt had failed before the worker was killed
		handIn("c", 1).add(2, Event{Kind: Canceled, Job: "c", Text: CancelRunning}).final("c", 500, canceled(2.5)).
		handIn("d", 1).add(2, Event{Kind: Accepted, Job: "d", Again: true}).add(2, Event{Kind: Refused, Job: "d"}).final("d", 500, right(4)). // 3 s
		broken(20, 30, Fault{Kind: "disk full"}).
		says(11, logLost, "", "w1").says(11, logRecovered, "b", "").says(12, logDropped, "b", "").says(13, logRequeued, "b", "")
	violations, figures := history.check(t)
	require.Empty(t, violations)
	require.Equal(t, Figures{
		Took: 1000 * time.Second, Jobs: 5, Results: map[string]int{"ok": 4, "canceled": 1}, Repeated: 1, Refused: 1, Cancellations: 1,
		Attempts: 6, Failed: 2, Requeued: 1, Dropped: 1, Recovered: 1, Lost: 1, Faults: map[string]int{FaultKilled: 1, "disk full": 1},
		Wait:     Spread{Count: 4, P50: 3 * time.Second, P99: 12 * time.Second, Max: 12 * time.Second},
		Recovery: Spread{Count: 1, P50: 8 * time.Second, P99: 8 * time.Second, Max: 8 * time.Second},
		Cancel:   Spread{Count: 1, P50: 500 * time.Millisecond, P99: 500 * time.Millisecond, Max: 500 * time.Millisecond},
	}, figures)
	text := figures.String()
	require.Contains(t, text, "5: canceled 1, ok 4\n")
	require.Contains(t, text, "p50 3.00 s, p99 12.00 s, max 12.00 s (of 4)\n")
	require.Equal(t, 14, strings.Count(text, "\n"))
}

func TestRanksAreTheNearest(t *testing.T) {
	t.Parallel()
	require.Zero(t, spreadOf(nil))
	var times []time.Duration
	for i := 200; i > 0; i-- {
		times = append(times, time.Duration(i))
	}
	require.Equal(t, Spread{Count: 200, P50: 100, P99: 198, Max: 200}, spreadOf(times))
}
