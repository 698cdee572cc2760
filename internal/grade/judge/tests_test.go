package judge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestASubmissionIsCompiledOnceAndGetsEachTest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	suite := &grade.Suite{Tests: []grade.Test{
		{Name: "a", Input: b.blobs.put("in"), Answer: b.blobs.put("the secret"), Args: []string{"-v"}, WallTime: ptr(sandbox.Seconds(1e9)), CPUTime: ptr(sandbox.Seconds(5e8))},
		{Name: "b", Answer: inline("the secret"), Files: []grade.DataFile{{Path: "data/x", Data: b.blobs.put("file")}, {Path: "y", Data: inline("z")}}},
	}}
	content, err := json.Marshal(suite)
	require.NoError(t, err)
	report := b.judged(t, b.program("p", func(sandbox.Test) sandbox.TestResult { return printed("the secret") }), grade.Task{SuiteBlob: b.blobs.put(string(content)).Blob})
	require.Equal(t, "a=AC b=AC ", verdicts(report))
	require.Equal(t, grade.AC, report.Verdict)
	require.Empty(t, report.Message)
	require.Equal(t, 1, b.runner.startedOf("p"))
	require.Equal(t, []sandbox.Test{
		{ID: "a", Stdin: sandbox.Bytes("in"), Args: []string{"-v"}, WallTime: ptr(sandbox.Seconds(1e9)), CPUTime: ptr(sandbox.Seconds(5e8))},
		{ID: "b", Files: []sandbox.File{{Path: "data/x", Data: sandbox.Bytes("file")}, {Path: "y", Data: sandbox.Bytes("z")}}},
	}, b.runner.given["p"], "and nothing of the answer")
}

func TestWhichTestsAreJudged(t *testing.T) {
	t.Parallel()
	score := func(n float64) *float64 { return &n }
	easy := &grade.Group{Name: "easy", Items: []grade.Item{{Test: "1"}, {Test: "2"}}, Break: true, Rule: grade.ScoringRule{Max: score(40)}}
	hard := &grade.Group{Name: "hard", Items: []grade.Item{{Test: "3"}, {Test: "4"}}, Break: true, Rule: grade.ScoringRule{Max: score(60)}, RequirePass: []string{"easy"}}
	other := &grade.Group{Name: "other", Items: []grade.Item{{Test: "3"}, {Test: "4"}}, Break: true, Rule: grade.ScoringRule{Max: score(60)}}
	root := func(groups ...*grade.Group) *grade.Group {
		whole := &grade.Group{Rule: grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(100)}}
		for _, group := range groups {
			whole.Items = append(whole.Items, grade.Item{Group: group})
		}
		return whole
	}
	for name, tt := range map[string]struct {
		root    *grade.Group
		mode    grade.Mode
		wrong   string // the inputs that get a wrong answer
		tests   string
		verdict grade.Verdict
		score   *float64
		message string
	}{
		"all right":                   {nil, grade.AsNeeded, "", "1=AC 2=AC 3=AC 4=AC ", grade.AC, nil, ""},
		"nothing can change any more": {nil, grade.AsNeeded, "2", "1=AC 2=WA ", grade.WA, nil, "2: wrong"},
		"first failure":               {nil, grade.FirstFailure, "24", "1=AC 2=WA ", grade.WA, nil, "2: wrong"},
		"everything":                  {nil, grade.Everything, "24", "1=AC 2=WA 3=AC 4=WA ", grade.WA, nil, "2: wrong"},
		"groups, all right":           {root(easy, hard), grade.AsNeeded, "", "1=AC 2=AC 3=AC 4=AC ", grade.AC, score(100), ""},
		"a group that was missed":     {root(easy, hard), grade.AsNeeded, "1", "1=WA ", grade.WA, score(0), "1: wrong"},
		"a group that counts alone":   {root(easy, other), grade.AsNeeded, "1", "1=WA 3=AC 4=AC ", grade.WA, score(60), "1: wrong"},
		"groups, first failure":       {root(easy, other), grade.FirstFailure, "1", "1=WA ", grade.WA, nil, "1: wrong"},
		"groups, everything":          {root(easy, hard), grade.Everything, "2", "1=AC 2=WA 3=AC 4=AC ", grade.WA, score(0), "2: wrong"},
		"the second group is missed":  {root(easy, hard), grade.AsNeeded, "3", "1=AC 2=AC 3=WA ", grade.WA, score(40), "3: wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.program("p", func(test sandbox.Test) sandbox.TestResult {
				for _, wrong := range tt.wrong {
					if string(test.Stdin) == string(wrong) {
						return printed("0")
					}
				}
				return echo(test)
			})
			suite := numbered(4)
			suite.Root = tt.root
			report := b.judged(t, p, grade.Task{Suite: suite, Mode: tt.mode})
			require.Equal(t, tt.tests, verdicts(report))
			require.Equal(t, tt.verdict, report.Verdict)
			require.Equal(t, tt.score, report.Score)
			require.Contains(t, report.Message, tt.message)
		})
	}
}

func TestGroupsAreReportedWithoutTheirTests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	suite := numbered(3)
	inner := &grade.Group{Name: "in", Items: []grade.Item{{Test: "1"}, {Test: "2"}}, Rule: grade.LegacyRule{}}
	suite.Root = &grade.Group{Items: []grade.Item{{Group: inner}, {Test: "3"}}, Rule: grade.LegacyRule{}}
	report := b.judged(t, b.program("p", echo), grade.Task{Suite: suite})
	require.Equal(t, &grade.Graded{Verdict: grade.AC, Items: []grade.Graded{{Name: "in", Verdict: grade.AC}}}, report.Groups)
}

func TestKnownTestsAreNotRunAgain(t *testing.T) {
	t.Parallel()
	known := func(name string, verdict grade.Verdict) grade.TestReport {
		return grade.TestReport{Name: name, Finding: grade.Finding{Verdict: verdict, Message: "as before"}, PeakMemory: 7}
	}
	for name, tt := range map[string]struct {
		mode    grade.Mode
		known   []grade.TestReport
		ran     []string
		tests   string
		message string
	}{
		"accepted ones":              {grade.AsNeeded, []grade.TestReport{known("1", grade.AC), known("3", grade.AC)}, []string{"2"}, "1=AC 2=AC 3=AC ", ""},
		"all":                        {grade.AsNeeded, []grade.TestReport{known("1", grade.AC), known("2", grade.AC), known("3", grade.AC)}, nil, "1=AC 2=AC 3=AC ", ""},
		"a rejected one decides":     {grade.AsNeeded, []grade.TestReport{known("1", grade.TLE)}, nil, "1=TLE ", "1: time limit exceeded: as before"},
		"tests before a rejected":    {grade.FirstFailure, []grade.TestReport{known("2", grade.RE)}, []string{"1"}, "1=AC 2=RE ", "2: run-time error: as before"},
		"everything but the known":   {grade.Everything, []grade.TestReport{known("1", grade.TLE)}, []string{"2", "3"}, "1=TLE 2=AC 3=AC ", "1: time limit exceeded: as before"},
		"one of a test that is gone": {grade.AsNeeded, []grade.TestReport{known("9", grade.TLE)}, []string{"1", "2", "3"}, "1=AC 2=AC 3=AC ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			task := grade.Task{Suite: numbered(3), Mode: tt.mode, Known: map[string]grade.TestReport{}}
			for _, report := range tt.known {
				task.Known[report.Name] = report
			}
			report := b.judged(t, b.program("p", echo), task)
			require.Equal(t, tt.ran, b.runner.ids("p"))
			require.Equal(t, tt.tests, verdicts(report))
			require.Equal(t, tt.message, report.Message)
			if len(tt.ran) == 0 {
				require.Zero(t, b.runner.startedOf("p"), "not even compiled")
			}
		})
	}
}

func TestASuiteNobodyCanJudgeByIsNotTheSubmissionsFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.program("p", echo)
	for name, tt := range map[string]struct {
		task grade.Task
		want string
	}{
		"no suite":      {grade.Task{}, "suite: is not given: want it or suite_blob"},
		"no tests":      {grade.Task{Suite: &grade.Suite{}}, "suite.tests: are 0: want 1 to 20000"},
		"no JSON":       {grade.Task{SuiteBlob: b.blobs.put("[]").Blob}, "suite: json: cannot unmarshal array"},
		"unknown field": {grade.Task{SuiteBlob: b.blobs.put(`{"colour":1}`).Blob}, `suite: json: unknown field "colour"`},
	} {
		result, report, err := b.Judge.Judge(t.Context(), p, tt.task)
		require.NoError(t, err, name)
		require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
		require.Equal(t, grade.IE, report.Verdict)
		require.Contains(t, report.Message, tt.want)
		require.Contains(t, result.Message, tt.want)
	}
	require.Zero(t, b.runner.startedOf("p"))
}
