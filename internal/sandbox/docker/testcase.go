package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// testCase is a test as a container gets it.
type testCase struct {
	id     string
	limits sandbox.Limits
	test   wire.Test
	// data is what follows: the files' contents and stdin.
	data [][]byte
	// talk is nil for a test that does not talk.
	talk *talk
}

// newCase checks a test. The error is the test's own.
func (s *series) newCase(test sandbox.Test) (*testCase, error) {
	talking := newTalk(test.Talk)
	if talking != nil {
		test.Stdin = nil
	}
	c, err := s.prepareCase(test)
	if err != nil {
		talking.closeOutput()
		return nil, fmt.Errorf("test %q: %w", test.ID, err)
	}
	c.talk, c.test.Talk = talking, talking != nil
	return c, nil
}

func (s *series) prepareCase(test sandbox.Test) (*testCase, error) {
	limits, err := test.Resolve(s.prepared.Limits, s.maxima)
	if err != nil {
		return nil, err
	}
	// sandbox-init keeps one copy of the program's files for the tests to come.
	if err := checkInput(s.prepared, 2, test.Files, test.Stdin); err != nil {
		return nil, err
	}
	prepared := s.prepared
	prepared.Limits = limits
	all := steps(prepared)
	step := all[len(all)-1]
	step.Argv = slices.Concat(step.Argv, test.Args)
	c := &testCase{id: test.ID, limits: limits, test: wire.Test{
		Step: step, Files: fileHeaders(test.Files), StdinSize: int64(len(test.Stdin)), Outputs: test.Outputs,
	}}
	for _, file := range test.Files {
		c.data = append(c.data, file.Data)
	}
	c.data = append(c.data, test.Stdin)
	if encoded, err := json.Marshal(c.test); err != nil || len(encoded) > wire.MaxPayload {
		return nil, errors.Join(err, fmt.Errorf("args, files: they make a message of %d bytes: want at most %d", len(encoded), wire.MaxPayload))
	}
	return c, nil
}
