package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/seal"
)

// signedJob is the purpose of the signatures of jobs.
const signedJob = "job"

// signatureLife is how long a signature counts: as long as a job can wait, die and wait again. It bounds for how long a whole old job, with its id and
// signature, can be put back into Redis by somebody who kept it.
const signatureLife = 2 * queuedRetention

// errUnauthorized means that no producer whom the worker trusts has made a job.
var errUnauthorized = errors.New("the job is refused and was not run")

// signedFields lists what a signature covers beside the stored body: that this body is the job of this id, whose it is and in which queue.
func (s *store) signedFields(id, tenant string, queue Queue, submitted string) []string {
	return []string{s.keys.prefix, id, tenant, string(queue), submitted}
}

// authorize tells whether the worker may run a job. The error is errUnauthorized.
func (w *Worker) authorize(id string, b beginning, stored []byte) error {
	verify := w.options.VerifyKeys
	if verify == nil {
		return nil
	}
	err := verify.Verify(b.signature, signedJob, stored, w.store.signedFields(id, b.tenant, b.queue, formatTime(b.submitted))...)
	if err != nil {
		return fmt.Errorf("%w: %w: this worker runs what was signed with a key of its jobs.verify_key_file, which producers have as jobs.sign_key_file",
			errUnauthorized, err)
	}
	if age := time.Since(b.submitted); age > signatureLife {
		return fmt.Errorf("%w: it was submitted %s ago: want at most %s: submit it anew", errUnauthorized, age.Round(time.Hour), signatureLife)
	}
	return nil
}

// hashes lists the hashes under which a job may be known already, the one in use first. Where jobs are sealed the plain hash would show whoever guesses
// a job that the guess is right.
func (s *store) hashes(hash string) []string {
	if s.seals == nil {
		return []string{hash}
	}
	return s.seals.Digests("hash of a job", hash)
}

// isTampered tells whether something in Redis is not what was put there, which no repetition mends.
func isTampered(err error) bool {
	return errors.Is(err, seal.ErrTampered) || errors.Is(err, seal.ErrNotSealed)
}

// hintSeal says where keys come from, if it was one that was missing.
func hintSeal(err error) error {
	if errors.Is(err, seal.ErrUnknownKey) || isTampered(err) {
		return fmt.Errorf("%w (jobs.seal_key_file)", err)
	}
	return err
}
