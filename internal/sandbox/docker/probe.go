package docker

import (
	"context"
	"errors"
)

// Probe starts a container without a program on the runtime of jobs without a tenant, see [Runner.ProbeOn].
func (r *Runner) Probe(ctx context.Context) error { return r.ProbeOn(ctx, r.options.RuntimeOf("")) }

// ProbeOn starts a container of a runtime without a program, as the default limits of a language want it, and removes it. It
// returns nil as soon as that works with one of the languages' images, else what prevents it with each. It costs as much as
// a cold start. The runtime must be one of the options'; "" is the daemon's default.
func (r *Runner) ProbeOn(ctx context.Context, runtime string) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.background.Done()
	tried := map[string]bool{}
	var errs []error
	for _, language := range r.options.Languages.All() {
		if tried[language.Image] {
			continue
		}
		tried[language.Image] = true
		found, err := r.images.resolve(ctx, language.Image)
		if err == nil {
			var b *box
			if b, err = r.startShape(ctx, r.usualShape(found.id, language).on(runtime)); err == nil {
				r.removeSoon(ctx, b)
				return nil
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
