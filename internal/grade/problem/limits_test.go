package problem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
)

func TestTheTimeLimitIsInferredFromTheSlowestAcceptedSubmission(t *testing.T) {
	t.Parallel()
	legacy := problem.Limits{ACToLimit: 5, LimitToTLE: 2}
	fine := problem.Limits{Resolution: 100 * time.Millisecond}
	for name, test := range map[string]struct {
		limits  problem.Limits
		slowest time.Duration
		want    time.Duration
	}{
		"legacy, five times 0.3 s is 1.5 s":        {legacy, 300 * time.Millisecond, 2 * time.Second},
		"legacy, exactly two seconds":              {legacy, 400 * time.Millisecond, 2 * time.Second},
		"legacy, a little more than two seconds":   {legacy, 400*time.Millisecond + 1, 3 * time.Second},
		"never less than one second":               {legacy, 0, time.Second},
		"current, twice 0.3 s is below one second": {problem.Limits{}, 300 * time.Millisecond, time.Second},
		"current, in tenths of a second":           {fine, 330 * time.Millisecond, 700 * time.Millisecond},
		"never less than one tenth":                {fine, 0, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.limits.Infer(test.slowest))
		})
	}
}

func TestTheTimeLimitKeepsItsDistances(t *testing.T) {
	t.Parallel()
	var limits problem.Limits // twice the slowest, and the fastest too slow one at 1.5 times the limit
	require.NoError(t, limits.CheckTime(2*time.Second, time.Second, 3*time.Second))
	require.NoError(t, limits.CheckTime(2*time.Second, time.Second, 0))
	require.EqualError(t, limits.CheckTime(2*time.Second, 1001*time.Millisecond, 0),
		"the slowest accepted submission takes 1.001s: with the factor 2 the limit of 2s is too low")
	require.EqualError(t, limits.CheckTime(2*time.Second, 0, 2999*time.Millisecond),
		"a submission that must be too slow takes only 2.999s: with the factor 1.5 the limit of 2s is too high")
}

func TestDefaultsFillOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	got := problem.Limits{Memory: 1, Time: time.Second, ACToLimit: 5}.WithDefaults(problem.TypicalLimits())
	want := problem.TypicalLimits()
	want.Memory, want.Time, want.ACToLimit = 1, time.Second, 5
	require.Equal(t, want, got)
}

func TestLimitsOfDOMjudgesFiles(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{
		"problem.yaml": "",
		"domjudge-problem.ini": `; a comment
[section]
name = "Sum; of two"
timelimit='2'   ; seconds
allow_submit = 1
timefactor_python = 3
timelimit_java=7.5
memory_java = 1024
color = "#ff0000"
`,
		".timelimit": "2\n",
	}))
	require.Empty(t, p.Warnings)
	require.Equal(t, "Sum; of two", p.Name())
	p.Limits.Memory = 256 << 20
	require.Equal(t, 2*time.Second, p.Limits.ForLanguage("cpp").Time)
	require.Equal(t, 6*time.Second, p.Limits.ForLanguage("python", "py").Time)
	require.Equal(t, int64(256<<20), p.Limits.ForLanguage("python").Memory)
	require.Equal(t, 7500*time.Millisecond, p.Limits.ForLanguage("java").Time)
	require.Equal(t, int64(1024<<20), p.Limits.ForLanguage("java").Memory)
}

func TestTimeLimitsThatDisagree(t *testing.T) {
	t.Parallel()
	withYAML := legacyFiles.with(files{"problem.yaml": "name: Sum\nlimits: {time_limit: 1}\n"})
	require.Equal(t, []string{".timelimit: says 3s and the other settings 1s"}, issues(t, withYAML.with(files{".timelimit": "3"})))
	p := load(t, withYAML.with(files{"domjudge-problem.ini": "timelimit = 3\n"}))
	require.Equal(t, time.Second, p.Limits.Time)
	require.Equal(t, []string{"domjudge-problem.ini: timelimit is ignored: problem.yaml says 1s"}, warnings(p))
}

func TestFaultsOfDOMjudgesFiles(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`.timelimit: "soon" is no time limit: want seconds from 0.001 to 86400`,
		`domjudge-problem.ini:1: "0" is no time limit: want seconds from 0.001 to 86400`,
		`domjudge-problem.ini:2: timefactor_java: "NaN": want a number above 0 and up to 1000`,
		`domjudge-problem.ini:3: memory_java: "much": want a number of MiB from 1 to 1048576`,
		`domjudge-problem.ini:4: "-1" is no time limit: want seconds from 0.001 to 86400`,
	}, issues(t, legacyFiles.with(files{
		".timelimit":           "soon",
		"domjudge-problem.ini": "timelimit = 0\ntimefactor_java = NaN\nmemory_java = much\ntimelimit_java = -1\n",
	})))
}
