package supervisor

import (
	"errors"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// serve runs the job and, as long as each has Reuse and leaves nothing, the ones after it. The result of a
// job is on its way before the cleaning begins, so that nobody waits for that.
func (s *session) serve(r *runner, spec wire.Spec, limits enforced) error {
	var clean *cleaner
	var err error
	switch {
	case limits.view.GVisor:
		err = errGVisor // which leaves clean nil, and each test after the first is for another container
	case spec.Tests || spec.Reuse:
		clean, err = newCleaner(r.group)
		if err != nil && spec.Tests {
			return err
		}
	}
	var empty *emptiness
	if spec.Reuse && err == nil {
		empty, err = newEmptiness(clean)
	}
	// What cannot be compared cannot be proved later. That is no reason not to run this one.
	unprovable := err
	for {
		if err := s.job(r, spec, limits.view, clean); err != nil || !spec.Reuse {
			return err
		}
		if unprovable != nil {
			return &uncleanError{unprovable}
		}
		if err := empty.restore(); err != nil {
			return &uncleanError{err}
		}
		if err := errors.Join(s.out.Write(wire.TypeClean), r.held.take()); err != nil {
			return err
		}
		if spec, err = s.readSpec(<-s.specs); err != nil {
			return err
		}
		if err := limits.verify(spec.Expect); err != nil {
			return err
		}
	}
}
