package grade_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func exited(code int, stderr string) sandbox.Result {
	run := sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: code}
	if code == 0 {
		run.Outcome = sandbox.OutcomeOK
	}
	run.Stderr.Data = []byte(stderr)
	return run
}

func TestOnly42And43AreJudgementsOfAValidator(t *testing.T) {
	t.Parallel()
	for code := range 256 {
		want, judged := map[int]grade.Verdict{42: grade.AC, 43: grade.WA}[code]
		if !judged {
			want = grade.IE
		}
		require.Equal(t, want, grade.ValidatorExit(code), code)
		require.Equal(t, want, grade.OfValidator(exited(code, "")).Verdict, code)
	}
	require.Equal(t, "the output validator ended with exit code 0: want 42 for right or 43 for wrong", grade.OfValidator(exited(0, "")).Message)
}

func TestAValidatorThatALimitEndedIsOurFailure(t *testing.T) {
	t.Parallel()
	for _, outcome := range sandbox.Outcomes() {
		if outcome == sandbox.OutcomeOK || outcome == sandbox.OutcomeNonzeroExit {
			continue
		}
		finding := grade.OfValidator(sandbox.Result{Outcome: outcome, ExitCode: 42})
		require.Equal(t, grade.IE, finding.Verdict, outcome)
		require.Equal(t, "internal error", finding.Public)
	}
}

func TestTestlibExitCodes(t *testing.T) {
	t.Parallel()
	want := map[int]grade.Verdict{0: grade.AC, 1: grade.WA, 2: grade.WA, 4: grade.WA, 7: grade.AC, 8: grade.WA}
	for code := range 256 {
		verdict, known := want[code]
		if !known {
			verdict = grade.IE
		}
		require.Equal(t, verdict, grade.TestlibExit(code), code)
	}
}

func TestATestlibCheckerSpeaksOnStandardError(t *testing.T) {
	t.Parallel()
	half := 0.5
	for name, test := range map[string]struct {
		run  sandbox.Result
		want grade.Finding
	}{
		"right":               {exited(0, "ok 3 numbers\n"), grade.Finding{Verdict: grade.AC, Message: "ok 3 numbers"}},
		"wrong":               {exited(1, "wrong answer 1st numbers differ\n"), grade.Finding{Verdict: grade.WA, Message: "wrong answer 1st numbers differ"}},
		"points":              {exited(7, "points 0.5 half of it"), grade.Finding{Verdict: grade.AC, Message: "points 0.5 half of it", Score: &half}},
		"points without word": {exited(7, "0.5"), grade.Finding{Verdict: grade.AC, Message: "0.5", Score: &half}},
		"points without any":  {exited(7, "points"), grade.Finding{Verdict: grade.IE, Message: "the checker gave points and no number", Public: "internal error"}},
		"points as word":      {exited(7, "points many"), grade.Finding{Verdict: grade.IE, Message: `the checker gave points and "many" is no number`, Public: "internal error"}},
		"its own failure":     {exited(3, "FAIL jury is wrong"), grade.Finding{Verdict: grade.IE, Message: "the checker ended with exit code 3: FAIL jury is wrong", Public: "internal error"}},
		"a crash": {
			sandbox.Result{Outcome: sandbox.OutcomeSignaled, Signal: "SIGSEGV", ExitCode: 139},
			grade.Finding{Verdict: grade.IE, Message: "the checker failed: killed by SIGSEGV", Public: "internal error"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, grade.OfTestlib(test.run))
		})
	}
}

func TestFeedbackOfAValidator(t *testing.T) {
	t.Parallel()
	score, factor := 12.5, 0.25
	right, wrong := grade.Finding{Verdict: grade.AC}, grade.Finding{Verdict: grade.WA}
	internal := func(message string) grade.Finding {
		return grade.Finding{Verdict: grade.IE, Message: message, Public: "internal error"}
	}
	for name, test := range map[string]struct {
		from     grade.Finding
		feedback grade.Feedback
		want     grade.Finding
	}{
		"nothing": {right, grade.Feedback{}, right},
		"messages for two": {
			wrong,
			grade.Feedback{JudgeMessage: []byte("want 5\n"), TeamMessage: []byte("try again\n")},
			grade.Finding{Verdict: grade.WA, Message: "want 5", Public: "try again"},
		},
		"a score":               {right, grade.Feedback{Score: []byte("12.5\n")}, grade.Finding{Verdict: grade.AC, Score: &score}},
		"a factor":              {right, grade.Feedback{Multiplier: []byte("0.25")}, grade.Finding{Verdict: grade.AC, Multiplier: &factor}},
		"an empty score":        {right, grade.Feedback{Score: []byte{}}, internal(`score.txt is "": want one number`)},
		"two numbers":           {right, grade.Feedback{Score: []byte("1 2")}, internal(`score.txt is "1 2": want one number`)},
		"an infinite score":     {right, grade.Feedback{Score: []byte("inf")}, internal(`score.txt is "inf": want one number`)},
		"a factor above one":    {right, grade.Feedback{Multiplier: []byte("1.1")}, internal(`score_multiplier.txt is "1.1": want one number from 0 to 1`)},
		"both":                  {right, grade.Feedback{Score: []byte("1"), Multiplier: []byte("1")}, internal("the output validator wrote both score.txt and score_multiplier.txt")},
		"score of a rejection":  {wrong, grade.Feedback{Score: []byte("1")}, internal("the output validator wrote a score and rejected the output")},
		"next pass of rejected": {wrong, grade.Feedback{NextPass: []byte("1")}, internal("the output validator wrote nextpass.in and rejected the output")},
		"our failure stays":     {internal("broken"), grade.Feedback{JudgeMessage: []byte("fine"), Score: []byte("1")}, internal("broken")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.from.WithFeedback(test.feedback))
		})
	}
	long := grade.Finding{Verdict: grade.WA}.WithFeedback(grade.Feedback{JudgeMessage: []byte(strings.Repeat("x", 1<<20))})
	require.Equal(t, strings.Repeat("x", 8192)+"...", long.Message)
}

func TestInteraction(t *testing.T) {
	t.Parallel()
	fine, crash := exited(0, ""), exited(1, "")
	slow := sandbox.Result{Outcome: sandbox.OutcomeCPUTimeout, ExitCode: -1}
	chatty := sandbox.Result{Outcome: sandbox.OutcomeOK, Stdout: sandbox.Stream{Total: 1 << 20, Truncated: true}}
	for name, test := range map[string]struct {
		validator, submission sandbox.Result
		validatorFirst        bool
		want                  grade.Verdict
	}{
		"both are happy":                                   {exited(42, ""), fine, false, grade.AC},
		"wrong, and the submission ends well":              {exited(43, ""), fine, false, grade.WA},
		"wrong, and the submission then crashes":           {exited(43, ""), crash, true, grade.WA},
		"wrong, and the submission then hangs":             {exited(43, ""), slow, true, grade.WA},
		"the submission crashes and the validator rejects": {exited(43, ""), crash, false, grade.RE},
		"the submission is too slow":                       {exited(43, ""), slow, false, grade.TLE},
		"right, and the submission crashes at the end":     {exited(42, ""), crash, true, grade.RE},
		"the validator fails":                              {exited(1, ""), crash, false, grade.IE},
		"the validator is too slow":                        {slow, fine, false, grade.IE},
		"a long talk is not too much output":               {exited(42, ""), chatty, false, grade.AC},
		"a submission that talks too much for its limit":   {exited(43, ""), sandbox.Result{Outcome: sandbox.OutcomeOutputLimit}, false, grade.OLE},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, grade.OfInteraction(test.validator, test.submission, test.validatorFirst).Verdict)
		})
	}
}
