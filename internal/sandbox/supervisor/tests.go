package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// arrival is a frame that listen passes on.
type arrival struct {
	kind    wire.Type
	payload []byte
}

// uncleanError means that the sandbox could not be made ready for a test.
type uncleanError struct{ err error }

func (e *uncleanError) Error() string { return "unclean: " + e.err.Error() }

func (e *uncleanError) Unwrap() error { return e.err }

var errCanceled = errors.New("canceled")

// tests runs tests as they come, each in a sandbox that holds what the steps left in the
// workspace and nothing else, until the worker sends no more.
func (s *session) tests(r *runner, spec wire.Spec, clean *cleaner) error {
	// Restored files count beside the kept ones.
	kept, err := takeSnapshot(workspaceDir, min(spec.Expect.WorkspaceBytes, (spec.Expect.MemoryBytes-ownMemory)/2))
	if err != nil {
		return &uncleanError{fmt.Errorf("keep what the steps left: %w", err)}
	}
	receive := func() (wire.Type, []byte, error) {
		select {
		case f := <-s.frames:
			return f.kind, f.payload, nil
		case <-r.canceled:
			return 0, nil, errCanceled
		}
	}
	for {
		kind, payload, err := receive()
		switch {
		case errors.Is(err, errCanceled) || kind == wire.TypeFinish:
			return nil
		case kind != wire.TypeTest:
			return fmt.Errorf("frame %q where a test is due", byte(kind))
		}
		var test wire.Test
		if err := json.Unmarshal(payload, &test); err != nil {
			return fmt.Errorf("read test: %w", err)
		}
		s.data = &dataReader{next: receive, due: test.StdinSize}
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
		if err := s.out.WriteJSON(wire.TypeStep, report); err != nil {
			return err
		}
		if report.Cause == wire.CauseCanceled {
			return nil
		}
	}
}

// prepare makes the sandbox what it was when the steps had ended, and takes the test's stdin.
func (s *session) prepare(test wire.Test, spec wire.Spec, clean *cleaner, kept *snapshot) (*input, error) {
	if err := validate(test.Step); err != nil {
		return nil, err
	}
	if need := 2*kept.size + test.StdinSize + ownMemory; test.StdinSize < 0 || need > spec.Expect.MemoryBytes {
		return nil, fmt.Errorf("stdin of %d bytes does not fit into %d bytes of memory beside twice the %d bytes that the steps left",
			test.StdinSize, spec.Expect.MemoryBytes, kept.size)
	}
	if err := clean.run(); err != nil {
		return nil, err
	}
	if err := kept.restore(workspaceDir); err != nil {
		return nil, fmt.Errorf("restore what the steps left: %w", err)
	}
	return newInput(s.data, test.StdinSize)
}
