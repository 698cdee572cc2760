package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// arrival is a frame that listen passes on.
type arrival struct {
	kind    wire.Type
	payload []byte
}

// uncleanError means that the sandbox could not be made ready for a test or another job.
type uncleanError struct{ err error }

func (e *uncleanError) Error() string { return "unclean: " + e.err.Error() }

func (e *uncleanError) Unwrap() error { return e.err }

var errCanceled = errors.New("canceled")

// tests runs tests as they come, each in a sandbox that holds what the steps left in the
// workspace and nothing else, until the worker sends no more. Without a cleaner there is one test.
func (s *session) tests(r *runner, spec wire.Spec, clean *cleaner) error {
	if err := s.out.Release(); err != nil {
		return err
	}
	kept, err := s.keep(spec, clean)
	if err != nil {
		return &uncleanError{fmt.Errorf("keep what the steps left: %w", err)}
	}
	defer func() { _ = kept.memory.Close() }()
	receive := func() (wire.Type, []byte, error) {
		select {
		case f := <-s.frames:
			return f.kind, f.payload, nil
		case <-r.canceled:
			return 0, nil, errCanceled
		}
	}
	for used := false; ; used = true {
		kind, payload, err := receive()
		switch {
		case errors.Is(err, errCanceled) || kind == wire.TypeFinish:
			return nil
		case kind != wire.TypeTest:
			return fmt.Errorf("frame %q where a test is due", byte(kind))
		case used && clean == nil:
			return &uncleanError{errGVisor}
		}
		var test wire.Test
		if err := json.Unmarshal(payload, &test); err != nil {
			return fmt.Errorf("read test: %w", err)
		}
		s.data = &dataReader{next: receive, due: dataSize(test.Files, test.StdinSize)}
		in, err := s.prepare(test, spec, clean, kept)
		if errors.Is(err, errCanceled) {
			return nil
		}
		if err != nil {
			return &uncleanError{err}
		}
		s.data = nil
		report, err := r.run(test.Step, in)
		if err := errors.Join(err, in.close()); err != nil {
			return err
		}
		if report.Refused, err = s.sendOutputs(test, spec, report); err != nil {
			return err
		}
		if err := errors.Join(s.out.WriteJSON(wire.TypeStep, report), s.out.Release()); err != nil {
			return err
		}
		if report.Cause == wire.CauseCanceled {
			return nil
		}
	}
}

// keep keeps what the steps left, for the tests after the first: without a cleaner there are none.
func (s *session) keep(spec wire.Spec, clean *cleaner) (*snapshot, error) {
	if clean == nil {
		return &snapshot{}, nil
	}
	// Restored files count beside the kept ones.
	return takeSnapshot(workspaceDir, min(spec.Expect.WorkspaceBytes, (spec.Expect.MemoryBytes-ownMemory)/2))
}

// sendOutputs sends the files that a test asked for and returns what it refused.
func (s *session) sendOutputs(test wire.Test, spec wire.Spec, report wire.StepReport) ([]sandbox.RefusedFile, error) {
	if report.Cause == wire.CauseCanceled {
		return nil, nil
	}
	spec.Outputs = test.Outputs
	return collect(workspaceDir, spec, s.out)
}

// prepare makes the sandbox what it was when the steps had ended, and takes the test's files and stdin.
func (s *session) prepare(test wire.Test, spec wire.Spec, clean *cleaner, kept *snapshot) (*input, error) {
	if err := validate(test.Step); err != nil {
		return nil, err
	}
	extra := dataSize(test.Files, test.StdinSize)
	if need := 2*kept.size + extra + ownMemory; test.StdinSize < 0 || need > spec.Expect.MemoryBytes {
		return nil, fmt.Errorf("files and stdin of %d bytes do not fit into %d bytes of memory beside twice the %d bytes that the steps left",
			extra, spec.Expect.MemoryBytes, kept.size)
	}
	if err := restart(clean, kept); err != nil {
		return nil, err
	}
	if err := overlayFiles(workspaceDir, test.Files, s.data); err != nil {
		return nil, err
	}
	if test.Talk {
		talking := newFeed(s.out)
		s.feed.Store(talking)
		return &input{feed: talking}, nil
	}
	return newInput(s.data, test.StdinSize)
}

// restart removes all that is in the sandbox and brings back what the steps left. Without a cleaner that is what there is.
func restart(clean *cleaner, kept *snapshot) error {
	if clean == nil {
		return nil
	}
	if err := clean.run(); err != nil {
		return err
	}
	if err := kept.restore(workspaceDir); err != nil {
		return fmt.Errorf("restore what the steps left: %w", err)
	}
	return nil
}
