package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// MaxResult bounds Commit.Result in bytes.
	MaxResult = 96 << 20
	// resultTime is how long a result is kept, for a job whose worker died before it stored it elsewhere.
	resultTime = time.Hour
)

// Commit is what a job leaves.
type Commit struct {
	// Files are all files that the session has from now on.
	Files []sandbox.File
	// Unchanged leaves the files as they are, without Files being looked at.
	Unchanged bool
	// Result, if any, is kept for an hour under the job's id and comes back as Lease.Committed if the job is begun again.
	Result []byte
}

// commitScript makes a new version. KEYS[4] is the new archive or, when the files stay, any other key; KEYS[5] is the job's
// result. ARGV: number, stamp or nothing when the files stay, count, bytes, stored bytes, result, time for which it is kept,
// expiry. The reply is fenced, lost when the archive is not there, or the version.
var commitScript = newScript(`
if get('fence') ~= ARGV[1] then
	redis.call('DEL', KEYS[4])
	return {'fenced'}
end
if ARGV[2] ~= '' and get('stamp') ~= ARGV[2] then
	if redis.call('EXISTS', KEYS[4]) == 0 then
		return {'lost'}
	end
	redis.call('RENAME', KEYS[4], KEYS[3])
	redis.call('HSET', KEYS[1], 'stamp', ARGV[2], 'count', ARGV[3], 'bytes', ARGV[4], 'stored', ARGV[5])
	redis.call('HINCRBY', KEYS[1], 'version', 1)
end
local version = get('version') or '0'
if ARGV[6] ~= '' then
	redis.call('SET', KEYS[5], version .. ' ' .. ARGV[6], 'PX', ARGV[7])
end
used(ARGV[8])
return {'committed', version}
`)

// Commit makes the files those of the session, in one step with the result. The version grows if they differ from what
// was there; Head tells. Files above the quota are a *QuotaError,
// and those that no folder can hold ErrInvalid. A lease that ran out still commits if nobody got one after
// it; else the error is ErrFenced. After any error the session is as before, and the caller may commit something else.
func (l *Lease) Commit(ctx context.Context, c Commit) error {
	if l.Committed != nil {
		return ErrFenced
	}
	if len(c.Result) > MaxResult {
		return fmt.Errorf("commit to %s: the result is %d bytes: want at most %d", l.session, len(c.Result), MaxResult)
	}
	next, archive, err := l.prepare(c)
	if err != nil {
		return fmt.Errorf("commit to %s: %w", l.session, err)
	}
	if err := l.commit(ctx, &next, archive, c.Result); err != nil {
		return fmt.Errorf("commit to %s: %w", l.session, err)
	}
	l.Head = next
	return nil
}

// prepare returns the head after a commit, but for the version, and the archive, which is empty when the files stay.
func (l *Lease) prepare(c Commit) (Head, []byte, error) {
	next := l.Head
	if c.Unchanged || (next.Version == 0 && len(c.Files) == 0) {
		return next, nil, nil
	}
	if err := l.store.checkQuota(c.Files); err != nil {
		return next, nil, err
	}
	archive, err := Pack(c.Files)
	if err != nil {
		return next, nil, err
	}
	stamp := l.store.stamp(archive)
	if stamp == next.stamp {
		return next, nil, nil
	}
	sealed := l.store.options.Keys.Seal(l.store.keys.files(l.session), archive)
	next.Files, next.Bytes, next.StoredBytes, next.stamp = len(c.Files), size(c.Files), int64(len(sealed)), stamp
	return next, sealed, nil
}

// stamp tells archives apart. Where they are sealed, only who has the key can work it out.
func (s *Store) stamp(archive []byte) string {
	sum := sha256.Sum256(archive)
	stamp := hex.EncodeToString(sum[:16])
	if digests := s.options.Keys.Digests("stamp of an archive", stamp); digests != nil {
		return digests[0]
	}
	return stamp
}

func (l *Lease) commit(ctx context.Context, next *Head, archive, result []byte) error {
	part, kept := l.store.keys.part(l.session, newToken()), l.store.keys.result(l.session, l.job)
	stamp := ""
	if len(archive) > 0 {
		stamp = next.stamp
		if err := l.store.send(ctx, part, archive); err != nil {
			return err
		}
	}
	packed := []byte{}
	if len(result) > 0 {
		packed = l.store.options.Keys.Seal(kept, packResult(result))
	}
	reply, err := l.run(ctx, commitScript, []string{part, kept},
		stamp, next.Files, next.Bytes, next.StoredBytes, packed, millis(resultTime), millis(l.store.options.Expiry))
	if err != nil {
		return err
	}
	if reply[0] == "lost" {
		return errors.New("the archive was lost on its way")
	}
	next.Version, err = strconv.ParseInt(reply[1], 10, 64)
	return err
}
