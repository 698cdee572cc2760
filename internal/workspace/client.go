package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// rereads is how often files are read that change while they are being read.
const rereads = 10

// Files returns the files of a session by path, as the last job that ended left them. It counts as a use.
func (s *Store) Files(ctx context.Context, session Session) ([]sandbox.File, error) {
	for range rereads {
		head, err := s.Info(ctx, session)
		if err != nil {
			return nil, err
		}
		files, changed, err := s.read(ctx, session, head)
		if err != nil {
			return nil, fmt.Errorf("read the files of %s: %w", session, err)
		}
		if !changed {
			return files, s.enter(ctx, session)
		}
	}
	return nil, fmt.Errorf("read the files of %s: they changed all the time", session)
}

// ReadFile returns one file of a session. One that is not there is fs.ErrNotExist, and ErrNotFound when it is the session
// that does not exist.
func (s *Store) ReadFile(ctx context.Context, session Session, name string) (sandbox.File, error) {
	files, err := s.Files(ctx, session)
	if err != nil {
		return sandbox.File{}, err
	}
	at := slices.IndexFunc(files, func(file sandbox.File) bool { return file.Path == name })
	if at < 0 {
		return sandbox.File{}, fmt.Errorf("%s: %q: %w", session, name, fs.ErrNotExist)
	}
	return files[at], nil
}

// Write changes the files of a session as Apply does, and makes a session that does not exist. While a job has it, Write
// waits up to most, and then has ErrBusy. The head is that after the change. Files above the quota are a *QuotaError, and
// those that no folder can hold ErrInvalid; then nothing is changed.
func (s *Store) Write(ctx context.Context, session Session, write []sandbox.File, deleted []string, most time.Duration) (Head, error) {
	if err := Check(write); err != nil {
		return Head{}, err
	}
	lease, err := s.AcquireWait(ctx, session, "a client", "write-"+newToken(), most)
	if err != nil {
		return Head{}, err
	}
	err = s.change(ctx, lease, write, deleted)
	return lease.Head, errors.Join(err, lease.Release(ctx))
}

func (s *Store) change(ctx context.Context, lease *Lease, write []sandbox.File, deleted []string) error {
	ctx, stop := lease.Keep(ctx)
	defer stop()
	files, err := lease.Files(ctx)
	if err != nil {
		return err
	}
	return lease.Commit(ctx, Commit{Files: Apply(files, write, deleted)})
}

// deleteScript removes a session. ARGV: channel.
var deleteScript = newScript(`
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('PUBLISH', ARGV[1], '')
return {'deleted'}
`)

// Delete removes a session. A job that has it at the moment loses its lease, and a live interpreter its session. The error
// is ErrNotFound if there is none.
func (s *Store) Delete(ctx context.Context, session Session) error {
	if _, err := s.Info(ctx, session); err != nil {
		return err
	}
	_, err := s.run(ctx, deleteScript, session, nil, s.keys.freeChannel(session))
	if err == nil {
		err = s.rdb.ZRem(ctx, s.keys.index(session.Tenant), session.Name).Err()
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", session, err)
	}
	return nil
}
