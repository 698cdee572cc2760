package batch

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state is what a batch that is under way must not forget.
type state struct {
	// Scope begins the idempotency keys of its jobs. A new one makes new jobs.
	Scope string `json:"scope"`
}

func newScope() string {
	scope := make([]byte, 8)
	_, _ = rand.Read(scope) // never returns an error, see crypto/rand
	return hex.EncodeToString(scope)
}

func (r *Results) statePath() string { return statePath(r.path) }

func statePath(results string) string { return results + ".state" }

// Name is the name under which the batch can be canceled. It changes when the batch has come to its end or was canceled.
func (r *Results) Name() string { return r.state.Scope }

// NameOf reads the name of the batch that a results file is of. It is empty when the batch has come to its end. The file may be open
// in another process.
func NameOf(results string) (string, error) {
	if _, err := os.Stat(results); err != nil {
		return "", err
	}
	content, err := os.ReadFile(statePath(results))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var known state
	if err == nil {
		err = json.Unmarshal(content, &known)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", statePath(results), err)
	}
	return known.Scope, nil
}

// openState reads the state of the run that goes on, or begins a new one.
func (r *Results) openState(fresh bool) error {
	content, err := os.ReadFile(r.statePath())
	switch {
	case fresh || errors.Is(err, fs.ErrNotExist):
		return r.renew()
	case err != nil:
		return err
	}
	if err := json.Unmarshal(content, &r.state); err != nil || r.state.Scope == "" {
		return fmt.Errorf("%s: is not what we wrote there: remove it to judge anew what has no result yet", r.statePath())
	}
	return nil
}

// renew makes the jobs that are submitted from now on new ones. It is on disk when renew returns.
func (r *Results) renew() error {
	next := state{Scope: newScope()}
	content, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := writeDurably(r.statePath(), append(content, '\n')); err != nil {
		return err
	}
	r.state = next
	return nil
}

// Complete forgets under which names the jobs are in Redis, so that another run judges again what could
// not be judged. [Run] calls it at the end of a batch; there must be nothing in flight.
func (r *Results) Complete() error {
	err := os.Remove(r.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writeDurably replaces a file as a whole.
func writeDurably(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
