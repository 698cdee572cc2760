package problem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func limited(limits string) files {
	return legacyFiles.with(files{"problem.yaml": "name: Sum\nlimits: {" + limits + "}\n"})
}

func TestLimitsThatAPackageAsksForAreGivenOrRefused(t *testing.T) {
	t.Parallel()
	for limits, want := range map[string]string{
		"memory: 4097":       "problem.yaml: the memory limit of 4097 MiB is not allowed here: want at most 4096",
		"output: 9":          "problem.yaml: the output limit of 9 MiB is not allowed here: want at most 8",
		"time_limit: 900.5":  "problem.yaml: the time limit of 15m0.5s is not allowed here: want at most 15m0s",
		"memory: 1048576":    "problem.yaml: the memory limit of 1048576 MiB is not allowed here: want at most 4096",
		"output: 9, code: 1": "problem.yaml: the output limit of 9 MiB is not allowed here: want at most 8",
	} {
		require.Equal(t, want, gradingError(t, load(t, limited(limits)), nil), limits)
	}
	p := load(t, limited("memory: 4096, output: 8, time_limit: 900"))
	made := own(t, grading(t, p, nil), p, "submissions/accepted/sum.py")
	require.Equal(t, int64(4<<30), *made.Limits.Memory)
	require.Equal(t, int64(8<<20), *made.Limits.Output)
	require.Equal(t, sandbox.Seconds(15*time.Minute), *made.Limits.CPUTime)
	require.Equal(t, sandbox.Seconds(15*time.Minute), *made.Limits.WallTime, "no more than the installation allows")
	_, err := made.Limits.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.NoError(t, err)
}

func TestWhatAPackageLeavesOpenFitsTheInstallation(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles)
	g := grading(t, p, func(o *problem.GradingOptions) {
		o.Maxima.Memory, o.Maxima.Output, o.Maxima.CPUs = 1<<30, 1<<20, 0.5
		o.Time = time.Second
	})
	require.Empty(t, g.Warnings)
	made := own(t, g, p, "submissions/accepted/sum.py")
	require.Equal(t, int64(1<<30), *made.Limits.Memory)
	require.Equal(t, int64(1<<20), *made.Limits.OutputKill)
	require.InEpsilon(t, 0.5, *made.Limits.CPUs, 1e-9)
}

func TestLimitsOfCompilerAndValidatorAreCut(t *testing.T) {
	t.Parallel()
	p := load(t, limited("validation_time: 1000, validation_memory: 8192, compilation_time: 400").with(files{
		"problem.yaml":            "name: Sum\nvalidation: custom\nlimits: {validation_time: 1000, validation_memory: 8192, compilation_time: 400}\n",
		"output_validators/v.cpp": "int main() {}",
	}))
	g := grading(t, p, nil)
	var said []string
	for _, warning := range g.Warnings {
		said = append(said, warning.String())
	}
	require.Equal(t, []string{
		"problem.yaml: limits: validation_time: 16m40s is cut to 15m0s, the most that is allowed here",
		"problem.yaml: limits: validation_memory: 8192 MiB is cut to 4096 MiB, the most that is allowed here",
		"problem.yaml: limits: compilation_time: 6m40s is cut to 5m0s, the most that is allowed here",
	}, said)
	_, err := g.Suite.Checker.Programs[0].Limits.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.NoError(t, err)
}

func TestOptionsReplaceThePackagesLimits(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/halves")
	g := grading(t, p, func(o *problem.GradingOptions) { o.Time, o.Memory, o.Output = 2*time.Second, 64<<20, 1000 })
	made := own(t, g, p, "submissions/accepted/half.py")
	require.Equal(t, sandbox.Seconds(2*time.Second), *made.Limits.CPUTime, "the factor for Python is the package's, and replaced too")
	require.Equal(t, int64(64<<20), *made.Limits.Memory)
	require.Equal(t, int64(1000), *made.Limits.OutputKill)
}

func TestALimitOfALanguageThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"domjudge-problem.ini": "timelimit=1\nmemory_python=5000\n"}))
	_, err := grading(t, p, nil).Own(submission(t, p, "submissions/accepted/sum.py"))
	require.EqualError(t, err, "language python: the memory limit of 5000 MiB is not allowed here: want at most 4096")
}

func TestTinyLimitsAreWhatAWorkerTakes(t *testing.T) {
	t.Parallel()
	p := load(t, limited("memory: 1, time_limit: 0.001"))
	made := own(t, grading(t, p, nil), p, "submissions/accepted/sum.py")
	_, err := made.Limits.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.NoError(t, err)
}

func TestAnInputThatIsTooLarge(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles)
	require.Equal(t, "data/secret/1.in: is 4 bytes: want at most the 3 that a job may send here",
		gradingError(t, p, func(o *problem.GradingOptions) { o.Defaults.InputBytes = 3 }))
}
