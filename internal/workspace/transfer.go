package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

const (
	// piece is how many bytes of an archive travel at once, so that a large one on a slow connection does not
	// run into a timeout.
	piece = 4 << 20
	// partTime is how long the pieces are kept of an archive whose writer does not go on.
	partTime = time.Hour
)

// pieceScript reads a piece of an archive. ARGV: stamp, first and last byte, expiry. An archive that was replaced has
// another stamp, so that nobody puts pieces of two together.
var pieceScript = newScript(`
if get('stamp') ~= ARGV[1] then
	return {'changed'}
end
used(ARGV[4])
return {'piece', redis.call('GETRANGE', KEYS[3], ARGV[2], ARGV[3])}
`)

// read returns the files of a session whose head is known. It tells when they have changed since.
func (s *Store) read(ctx context.Context, session Session, head Head) (files []sandbox.File, changed bool, err error) {
	if head.Version == 0 {
		return nil, false, nil
	}
	archive := make([]byte, 0, min(head.StoredBytes, MaxBytes))
	for int64(len(archive)) < head.StoredBytes {
		reply, err := s.run(ctx, pieceScript, session, nil, head.stamp, len(archive), len(archive)+piece-1, millis(s.options.Expiry))
		if err != nil {
			return nil, false, err
		}
		if reply[0] == "changed" {
			return nil, true, nil
		}
		if reply[1] == "" {
			return nil, false, fmt.Errorf("%d of %d bytes are there: %w", len(archive), head.StoredBytes, ErrDamaged)
		}
		archive = append(archive, reply[1]...)
	}
	packed, err := s.open(s.keys.files(session), archive)
	if err != nil {
		return nil, false, err
	}
	files, err = Unpack(packed, MaxBytes, MaxFiles)
	return files, false, err
}

// open opens what was sealed for a key. The error is ErrDamaged unless it is our own key that is missing.
func (s *Store) open(key string, value []byte) ([]byte, error) {
	plain, err := s.options.Keys.Open(key, value)
	switch {
	case errors.Is(err, seal.ErrUnknownKey):
		return nil, fmt.Errorf("%w (jobs.seal_key_file)", err)
	case err != nil:
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	return plain, nil
}

// send puts an archive beside the session, where nobody sees it before the commit.
func (s *Store) send(ctx context.Context, part string, archive []byte) error {
	for at := 0; at < len(archive); at += piece {
		end := min(at+piece, len(archive))
		_, err := s.rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error { // or it might stay for ever
			pipe.SetRange(ctx, part, int64(at), string(archive[at:end]))
			pipe.PExpire(ctx, part, partTime)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
