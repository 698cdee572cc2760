package docker

import (
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// What sandbox-init says was said by hostile code if that has taken it over. So nothing of it takes more memory than what a right one says.
const (
	// maxStart bounds the message of a start, and maxText each text in a report, in bytes.
	maxStart = 32 << 10
	maxText  = 8 << 10
	// maxPathBytes bounds the path of a file, maxRefused the number of files that are refused; sandbox-init keeps to both.
	maxPathBytes = 1024
	maxRefused   = 101
)

// checkStart reads what was found before user code started.
func checkStart(payload []byte, start *wire.Start) error {
	if len(payload) > maxStart {
		return fmt.Errorf("%w: a start of %d bytes: want at most %d", errProtocol, len(payload), maxStart)
	}
	return decode(payload, start)
}

// checkStep reads the report of the step of a name, and shortens its texts.
func checkStep(payload []byte, name string, report *wire.StepReport) error {
	if err := decode(payload, report); err != nil {
		return err
	}
	if report.Name != name {
		return fmt.Errorf("%w: a report of %.20q, where %q runs", errProtocol, report.Name, name)
	}
	report.StartError, report.Cause, report.DiskFull = shortText(report.StartError), wire.Cause(shortText(string(report.Cause))), shortText(report.DiskFull)
	return checkRefused(report.Refused)
}

// readEnd reads the end of a job. It is nil with an error, since nothing is left out of what a right one tells.
func readEnd(payload []byte) (*wire.End, error) {
	end := new(wire.End)
	err := decode(payload, end)
	if err == nil {
		err = checkRefused(end.Refused)
	}
	if err != nil {
		return nil, err
	}
	return end, nil
}

// checkRefused does not believe a list of refused files that is longer than any.
func checkRefused(files []sandbox.RefusedFile) error {
	if len(files) > maxRefused {
		return fmt.Errorf("%w: %d files are refused: want at most %d", errProtocol, len(files), maxRefused)
	}
	for _, file := range files {
		if len(file.Path) > 2*maxPathBytes || len(file.Reason) > maxText { // a path that is shortened has a mark
			return fmt.Errorf("%w: a refused file of %d bytes", errProtocol, len(file.Path)+len(file.Reason))
		}
	}
	return nil
}

// shortText is the beginning of a text that is too long.
func shortText(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

// early tells, at the end, whether only a cancel can be the reason for it.
func (s *session) early() bool {
	ended := s.report.steps[:len(s.report.steps)-1]
	failed := false
	for _, step := range ended {
		if step.report.Cause == wire.CauseCanceled {
			return true
		}
		failed = failed || step.report.Failed()
	}
	switch tests := s.job.tests; {
	case tests == nil:
		return !failed && len(ended) < len(s.steps)
	case tests.running:
		return true
	default:
		return !failed && !tests.over && !tests.spent
	}
}
