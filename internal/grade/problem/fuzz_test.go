package problem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

// FuzzSettings reads any bytes as a package's settings: the answer is a problem that can be graded or an *Invalid.
func FuzzSettings(f *testing.F) {
	f.Add("name: Sum\n", "on_reject: break\n", "accepted: {permitted: [AC]}\n", "timelimit = 1\n")
	f.Add(scoringHead, "max_score: unbounded\nscore_aggregation: min\nrequire_pass: sample\n", "'{a,b}*': {score: [1, 2]}\n", "timefactor_x = 2")
	f.Add("limits: &a {time_multipliers: *a}\n", "scoring: {score: 5}\n", "a: [\n", "=")
	f.Fuzz(func(t *testing.T, settings, group, submissions, ini string) {
		tree := legacyFiles.with(files{
			"problem.yaml": settings + " ", "data/secret/testdata.yaml": group, "data/secret/test_group.yaml": group, "data/secret/1.yaml": group,
			"submissions/submissions.yaml": submissions, "domjudge-problem.ini": ini, ".timelimit": ini, "submissions/mixed/a.py": ini,
		})
		for _, absent := range []string{"testdata.yaml", "test_group.yaml"} {
			p, err := problem.LoadFS(tree.with(files{"data/secret/" + absent: ""}).fs(), "sum")
			if err != nil {
				var invalid *problem.Invalid
				require.ErrorAs(t, err, &invalid)
				require.NotEmpty(t, invalid.Issues)
				continue
			}
			require.Equal(t, []string{"secret/1"}, grade.Pending(p.Root, nil, false))
			known := findings("secret/1=AC")
			require.Empty(t, grade.Pending(p.Root, known, false))
			result := grade.Grade(p.Root, known)
			for _, submission := range p.Submissions {
				submission.Expect.Check(problem.Outcome{Result: result, Findings: known})
			}
		}
	})
}
