package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTestHasTheProgramsLimitsUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	program := DefaultLimits()
	program.WallTime, program.CPUTime = 9*time.Second, 3*time.Second
	second, minute := Seconds(time.Second), Seconds(time.Minute)
	for name, tt := range map[string]struct {
		test      Test
		wall, cpu time.Duration
	}{
		"neither": {Test{}, 9 * time.Second, 3 * time.Second},
		"wall":    {Test{WallTime: &minute}, time.Minute, 3 * time.Second},
		"cpu":     {Test{CPUTime: &second}, 9 * time.Second, time.Second},
		"both":    {Test{WallTime: &minute, CPUTime: &second}, time.Minute, time.Second},
	} {
		got, err := tt.test.Resolve(program, DefaultMaxima())
		require.NoError(t, err, name)
		want := program
		want.WallTime, want.CPUTime = tt.wall, tt.cpu
		require.Equal(t, want, got, name)
	}
}

func TestTestThatCannotRunIsRefused(t *testing.T) {
	t.Parallel()
	program := DefaultLimits()
	program.InputBytes = 10
	zero, day := Seconds(0), Seconds(24*time.Hour)
	for want, test := range map[string]Test{
		"limits.wall_seconds: 24h0m0s is not allowed":   {WallTime: &day},
		"limits.cpu_seconds: 0s is not allowed":         {CPUTime: &zero},
		"stdin: is 11 bytes: want at most 10":           {Stdin: []byte("12345678901")},
		"args[1]: is not UTF-8":                         {Args: []string{"fine", "\xff"}},
		"args: 4097 are given: want at most 4096":       {Args: make([]string, 4097)},
		"args: are 1100011 bytes together: want at mos": {Args: strings.Split(strings.Repeat(strings.Repeat("x", 100_000)+" ", 11)[:1_100_010], " ")},
	} {
		_, err := test.Resolve(program, DefaultMaxima())
		require.ErrorContains(t, err, want)
	}
}

func TestTestFilesAndOutputsFollowTheRulesOfPrograms(t *testing.T) {
	t.Parallel()
	program := DefaultLimits()
	program.FilesIn, program.InputBytes = 2, 10
	files := func(paths ...string) (files []File) {
		for _, path := range paths {
			files = append(files, File{Path: path})
		}
		return files
	}
	for want, test := range map[string]Test{
		"files: 3 are given: want at most 2":                   {Files: files("a", "b", "c/")},
		`files[1].path: "a" is given twice`:                    {Files: files("a", "a")},
		`files[1].path: "a/" is given twice`:                   {Files: files("a", "a/")},
		`files[0].path: "../a" is not a clean relative path`:   {Files: files("../a")},
		`files[0].path: "../a" is not a clean`:                 {Files: files("../a/")},
		`files[0].path: "a//b" is not a clean`:                 {Files: files("a//b")},
		`files[0].path: "a/" is not a clean`:                   {Files: files("a//")},
		"files[0].path: is empty":                              {Files: files("/")},
		`files[0].path: ".sandloop-out" is where`:              {Files: files(".sandloop-out/")},
		`files[0]: "a/" is a folder and has 1 bytes of data`:   {Files: []File{{Path: "a/", Data: Bytes("x")}}},
		"files: files and stdin are 11 bytes: want at most 10": {Stdin: Bytes("123456"), Files: []File{{Path: "a", Data: Bytes("12345")}}},
		"outputs: 65 are given: want at most 64":               {Outputs: make([]string, 65)},
		`outputs[1]: "[" is not a pattern`:                     {Outputs: []string{"a", "["}},
	} {
		_, err := test.Resolve(program, DefaultMaxima())
		require.ErrorContains(t, err, want)
	}
	_, err := Test{
		Stdin: Bytes("12345"), Outputs: []string{"**/*.txt"},
		Files: []File{{Path: "a/b", Data: Bytes("12345"), Executable: true}, {Path: "a/"}},
	}.Resolve(program, DefaultMaxima())
	require.NoError(t, err)
}

func TestTestResultReadsLikeAResult(t *testing.T) {
	t.Parallel()
	result := Result{
		Outcome: OutcomeSignaled, ExitCode: 139, Signal: "SIGSEGV", TimedOut: true, Message: "killed by SIGSEGV",
		Stdout: NewStream([]byte("out"), nil, 3), Stderr: NewStream([]byte("err"), nil, 3), Duration: Seconds(time.Second),
		CPUUser: Seconds(time.Minute), CPUSystem: Seconds(time.Hour), PeakMemory: 3, OOMKills: 4, PIDsDenied: 5,
		Files: []File{{Path: "a", Data: Bytes("x")}}, RefusedFiles: []RefusedFile{{Path: "b", Reason: "is a FIFO"}},
	}
	fields := func(v any) (m map[string]any) {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &m))
		return m
	}
	all := fields(result)
	got := fields(NewTestResult("7", result))
	require.Equal(t, "7", got["id"])
	delete(got, "id")
	require.Len(t, got, 16)
	for name, value := range got {
		require.Equal(t, all[name], value, name)
	}
}
