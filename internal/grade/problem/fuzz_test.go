package problem_test

import (
	"archive/zip"
	"bytes"
	"errors"
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

// FuzzPackage reads any bytes as an archive of a package: whatever it holds, the answer is a problem or an error, and no file outside of it.
func FuzzPackage(f *testing.F) {
	for _, tree := range []files{legacyFiles, currentFiles, legacyFiles.with(files{
		"domjudge-problem.ini": "timelimit=2\n", "data/secret/a/1.in": "1", "data/secret/a/1.ans": "1", "data/secret/a/testdata.yaml": "on_reject: break\n",
		"output_validators/v/build": "x", "output_validators/v/run": "y", "include/python/lib.py": "z", "submissions/wrong_answer/d/a.c": "int main;",
	})} {
		var archive bytes.Buffer
		require.NoError(f, func() error { w := zip.NewWriter(&archive); return errors.Join(w.AddFS(tree.fs()), w.Close()) }())
		f.Add(archive.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		p, err := problem.LoadFS(archive, "fuzz")
		if err != nil {
			return
		}
		for _, test := range p.Tests {
			if answer, err := p.ReadFile(test.Answer, 1<<10); err == nil {
				require.LessOrEqual(t, len(answer), 1<<10)
			}
		}
		require.NotPanics(t, func() { grade.Grade(p.Root, nil) })
	})
}
