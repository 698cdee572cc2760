package sandbox

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Test is one run of a program that was compiled once for many. Each has fresh processes
// and finds the files that the compile step left, and nothing of another test.
type Test struct {
	// ID is the caller's; it comes back in the TestResult.
	ID string `json:"id"`
	// Stdin is all that the program can read; none means end of file at once.
	Stdin Bytes `json:"stdin,omitempty"`
	// Args follow the program's own.
	Args []string `json:"args,omitempty"`
	// WallTime and CPUTime are the test's own limits; unset ones are the program's.
	WallTime *Seconds `json:"wall_seconds,omitempty"`
	CPUTime  *Seconds `json:"cpu_seconds,omitempty"`
	// Files are written to /workspace for this test alone, over what the compile step left. A
	// Path that ends in a slash is an empty folder.
	Files []File `json:"files,omitempty"`
	// Outputs are patterns, as in Program.Outputs, of files that come back in TestResult.Files.
	Outputs []string `json:"outputs,omitempty"`

	// Talk, if not nil, connects the test's standard streams while it runs. Stdin is then not used.
	Talk *Talk `json:"-"`
}

// Talk is the other end of a running test's standard input and output, as of a pipe.
type Talk struct {
	// Input is copied to the test's standard input until it ends, which closes that. When the
	// test has ended it is read no further; the caller then makes a Read that waits return.
	Input io.Reader
	// Output gets all of standard output as it comes, and is closed when the test has closed it
	// or ended. Write must not block. What Output refuses is dropped.
	Output io.WriteCloser
}

// TestResult is what became of a test; its fields are those of Result.
type TestResult struct {
	ID       string  `json:"id"`
	Outcome  Outcome `json:"outcome"`
	OK       bool    `json:"ok"`
	ExitCode int     `json:"exit_code"`
	Signal   string  `json:"signal,omitempty"`
	TimedOut bool    `json:"timed_out"`
	Message  string  `json:"message,omitempty"`
	Stdout   Stream  `json:"stdout"`
	Stderr   Stream  `json:"stderr"`
	Duration Seconds `json:"duration_seconds"`

	CPUUser    Seconds `json:"cpu_user_seconds"`
	CPUSystem  Seconds `json:"cpu_system_seconds"`
	PeakMemory int64   `json:"peak_memory_bytes"`
	OOMKills   int64   `json:"oom_kills,omitempty"`
	PIDsDenied int64   `json:"pids_denied,omitempty"`
	// Files and RefusedFiles are what became of Test.Outputs.
	Files        []File        `json:"files,omitempty"`
	RefusedFiles []RefusedFile `json:"refused_files,omitempty"`
}

// NewTestResult takes from the result of a run what concerns a test.
func NewTestResult(id string, r Result) TestResult {
	return TestResult{
		ID: id, Outcome: r.Outcome, OK: r.OK, ExitCode: r.ExitCode, Signal: r.Signal, TimedOut: r.TimedOut,
		Message: r.Message, Stdout: r.Stdout, Stderr: r.Stderr, Duration: r.Duration,
		CPUUser: r.CPUUser, CPUSystem: r.CPUSystem, PeakMemory: r.PeakMemory, OOMKills: r.OOMKills, PIDsDenied: r.PIDsDenied,
		Files: r.Files, RefusedFiles: r.RefusedFiles,
	}
}

// Resolve checks the test and returns the program's limits with the test's own put in. The
// error joins one sentence for each field that is wrong.
func (t Test) Resolve(program, maxima Limits) (Limits, error) {
	var errs []error
	cpu := Seconds(program.CPUTime)
	asked := Overrides{WallTime: t.WallTime, CPUTime: &cpu}
	if t.CPUTime != nil {
		asked.CPUTime = t.CPUTime
	}
	limits, err := asked.Resolve(program, maxima)
	errs = append(errs, err)
	if len(t.Args) > maxArgs {
		errs = append(errs, fmt.Errorf("args: %d are given: want at most %d", len(t.Args), maxArgs))
	}
	size := 0
	for i, arg := range t.Args {
		size += len(arg) + 1
		if err := checkString(arg); err != nil {
			errs = append(errs, fmt.Errorf("args[%d]: %w", i, err))
		}
	}
	if size > maxListBytes {
		errs = append(errs, fmt.Errorf("args: are %d bytes together: want at most %d", size, maxListBytes))
	}
	errs = append(errs, t.validateFiles(program)...)
	errs = append(errs, checkOutputs(t.Outputs)...)
	if t.Talk != nil && (t.Talk.Input == nil || t.Talk.Output == nil) {
		errs = append(errs, errors.New("talk: input and output must both be set"))
	}
	return limits, errors.Join(errs...)
}

func (t Test) validateFiles(program Limits) []error {
	total, errs := checkFiles(t.Files, program, func(path string) error { return checkPath(strings.TrimSuffix(path, "/")) })
	for i, file := range t.Files {
		if strings.HasSuffix(file.Path, "/") && len(file.Data) > 0 {
			errs = append(errs, fmt.Errorf("files[%d]: %q is a folder and has %d bytes of data: want none", i, file.Path, len(file.Data)))
		}
	}
	total += int64(len(t.Stdin))
	switch {
	case total <= program.InputBytes:
	case len(t.Files) == 0:
		errs = append(errs, fmt.Errorf("stdin: is %d bytes: want at most %d", total, program.InputBytes))
	default:
		errs = append(errs, fmt.Errorf("files: files and stdin are %d bytes: want at most %d", total, program.InputBytes))
	}
	return errs
}
