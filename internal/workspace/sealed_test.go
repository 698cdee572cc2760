package workspace

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
	"github.com/sandloop/sandloop/internal/testenv"
)

// keysOf makes keys, of which the first is in use.
func keysOf(t *testing.T, secrets ...string) *seal.Keys {
	t.Helper()
	var content []byte
	for _, secret := range secrets {
		content = append(content, secret+" of a test, 32 bytes and more\n"...)
	}
	keys, err := seal.ParseKeys(content)
	require.NoError(t, err)
	return keys
}

// as is the same Redis with other keys.
func (b *bundle) as(keys *seal.Keys) *bundle {
	options := b.options
	options.Keys = keys
	return &bundle{Store: New(b.rdb, options), t: b.t, ctx: b.ctx, rdb: b.rdb}
}

func TestSealedSessionsComeBackAsTheyWere(t *testing.T) {
	both(t, func(t *testing.T, plain *bundle) {
		b := plain.as(keysOf(t, "old"))
		noise := make([]byte, 5<<20) // more than travels at once, and nothing to compress
		random := rand.NewChaCha8([32]byte{1})
		_, _ = random.Read(noise)
		lease := b.acquire("1")
		require.NoError(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "1"), file("noise", string(noise))}, Result: []byte("r")}))
		b.commit(lease, file("noise", string(noise)), file("a", "1"))
		require.EqualValues(t, 1, lease.Head.Version, "the same files are no change, though sealed they are others each time")
		require.NoError(t, lease.Release(b.ctx))
		b.holds(file("a", "1"), file("noise", string(noise)))
		require.Equal(t, []byte("r"), b.acquire("1").Committed.Result)

		next := b.as(keysOf(t, "new", "old"))
		next.holds(file("a", "1"), file("noise", string(noise)))
		_, err := next.Write(next.ctx, notes, []sandbox.File{file("a", "2")}, nil, bound)
		require.NoError(t, err)
		next.holds(file("a", "2"), file("noise", string(noise)))
		_, err = b.Files(b.ctx, notes)
		require.ErrorIs(t, err, seal.ErrUnknownKey)
		require.NotErrorIs(t, err, ErrDamaged, "nobody should delete it")
		require.ErrorContains(t, err, "jobs.seal_key_file")
	})
}

func TestFilesThatWereNotSealedForTheSessionAreDamage(t *testing.T) {
	both(t, func(t *testing.T, plain *bundle) {
		b := plain.as(keysOf(t, "seal"))
		other := Session{Tenant: "mallory", Name: "notes"}
		for _, session := range []Session{notes, other} {
			_, err := b.Write(b.ctx, session, []sandbox.File{file("main.py", session.Tenant)}, nil, bound)
			require.NoError(t, err)
		}
		require.NoError(t, b.rdb.Copy(b.ctx, b.keys.files(other), b.keys.files(notes), 0, true).Err())
		require.NoError(t, b.rdb.HSet(b.ctx, b.keys.head(notes), "stored", b.rdb.StrLen(b.ctx, b.keys.files(other)).Val()).Err())
		_, err := b.Files(b.ctx, notes)
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, seal.ErrTampered.Error())

		archive, err := Pack([]sandbox.File{file("main.py", "evil")})
		require.NoError(t, err)
		require.NoError(t, b.rdb.Set(b.ctx, b.keys.files(notes), archive, 0).Err())
		require.NoError(t, b.rdb.HSet(b.ctx, b.keys.head(notes), "stored", len(archive)).Err())
		_, err = b.Files(b.ctx, notes)
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, seal.ErrNotSealed.Error())
	})
}

// What zstd cannot make smaller it leaves as it is, so plain files can be found in what Redis wrote.
func TestNothingOfASessionLiesPlainInRedisWhereItIsSealed(t *testing.T) {
	t.Parallel()
	for _, keys := range []*seal.Keys{nil, keysOf(t, "seal")} {
		dir := t.TempDir()
		addr := testenv.RedisServer(t, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
		b := connect(t, redis.NewClient(&redis.Options{Addr: addr}), func(o *Options) { o.Keys = keys })
		noise := make([]byte, 512<<10)
		_, _ = rand.NewChaCha8([32]byte{2}).Read(noise)
		inFiles, inResult := string(noise[200<<10:][:64]), string(noise[300<<10:][:64])
		lease := b.acquire("1")
		require.NoError(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("noise", string(noise[:256<<10]))}, Result: noise[256<<10:]}))
		require.NoError(t, lease.Release(b.ctx))
		b.holds(file("noise", string(noise[:256<<10])))
		var all strings.Builder
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			all.Write(content)
			return err
		}))
		require.Equal(t, keys == nil, strings.Contains(all.String(), inFiles), "files")
		require.Equal(t, keys == nil, strings.Contains(all.String(), inResult), "result")
	}
}
