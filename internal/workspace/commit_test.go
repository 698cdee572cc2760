package workspace

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAJobThatRunsAgainGetsWhatItStored(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		first := b.acquire("1")
		result := append(bytes.Repeat([]byte("result "), 1000), 0, 255)
		require.NoError(t, first.Commit(b.ctx, Commit{Files: []sandbox.File{file("count", "1")}, Result: result}))
		b.runOut() // its worker died before it told anybody

		again := b.acquire("1")
		require.Equal(t, &Committed{Version: 1, Result: result}, again.Committed)
		_, err := again.Files(b.ctx)
		require.ErrorIs(t, err, ErrFenced)
		require.ErrorIs(t, again.Commit(b.ctx, Commit{}), ErrFenced)
		require.ErrorIs(t, again.Hold(b.ctx, Holder{}), ErrFenced)
		kept, stop := again.Keep(b.ctx)
		require.NoError(t, kept.Err())
		stop()
		require.NoError(t, again.Release(b.ctx))

		other := b.acquire("2")
		require.Nil(t, other.Committed)
		while := b.acquire("1")
		require.NotNil(t, while.Committed, "also while another job has the session")
		require.NoError(t, other.Release(b.ctx))
		b.holds(file("count", "1"))
		require.InDelta(t, time.Hour, b.rdb.PTTL(b.ctx, b.keys.result(notes, "1")).Val(), float64(time.Minute))
	})
}

func TestOnlyAChangeMakesAVersion(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		require.NoError(t, lease.Commit(b.ctx, Commit{}))
		require.Zero(t, lease.Head.Version, "no files before and none after")
		b.commit(lease, file("a", "1"), file("b", "2"))
		require.EqualValues(t, 1, lease.Head.Version)
		b.commit(lease, file("b", "2"), file("a", "1"))
		require.EqualValues(t, 1, lease.Head.Version, "the same in another order")
		require.NoError(t, lease.Commit(b.ctx, Commit{Unchanged: true, Result: []byte("r")}))
		require.EqualValues(t, 1, lease.Head.Version)
		executable := file("a", "1")
		executable.Executable = true
		b.commit(lease, executable, file("b", "2"))
		require.EqualValues(t, 2, lease.Head.Version)
		require.EqualValues(t, 1, b.acquire("1").Committed.Version, "the version when the result was stored")
		require.NoError(t, lease.Release(b.ctx))
		b.holds(executable, file("b", "2"))
	})
}

func TestACommitIsSentAgainWithoutHarm(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		next, archive, err := lease.prepare(Commit{Files: []sandbox.File{file("a", "1")}})
		require.NoError(t, err)
		for range 2 { // as the client does when a reply was lost
			require.NoError(t, b.send(b.ctx, b.keys.part(notes, "x"), archive))
			require.NoError(t, lease.commit(b.ctx, &next, archive, nil))
			require.EqualValues(t, 1, next.Version)
		}
		reply, err := lease.run(b.ctx, commitScript, []string{b.keys.part(notes, "gone"), b.keys.result(notes, "1")}, "another", 1, 1, 1, "", "1", "60000")
		require.NoError(t, err)
		require.Equal(t, []string{"lost"}, reply, "an archive that expired on its way")
		b.runOut()
		b.holds(file("a", "1"))
	})
}

func TestWhatIsAboveTheQuotaIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Quota, o.MaxFiles = 10, 2 })
	lease := b.acquire("1")
	b.commit(lease, file("a", "12345"), file("b", "67890"))
	for want, files := range map[QuotaError][]sandbox.File{
		{What: "bytes", Size: 11, Quota: 10}:                    {file("a", "12345678901")},
		{What: "files", Size: 3, Quota: 2}:                      {file("a", ""), file("b", ""), file("c", "")},
		{What: "bytes of paths", Size: 1048577, Quota: 1 << 20}: {file(string(bytes.Repeat([]byte("x"), 1048577)), "")},
	} {
		err := lease.Commit(b.ctx, Commit{Files: files, Result: []byte("r")})
		var quota *QuotaError
		require.ErrorAs(t, err, &quota)
		require.Equal(t, want, *quota)
		require.ErrorContains(t, err, fmt.Sprintf("would hold %d %s: want at most %d", want.Size, want.What, want.Quota))
	}
	require.NoError(t, lease.Commit(b.ctx, Commit{Unchanged: true}), "the lease still holds")
	require.NoError(t, lease.Release(b.ctx))
	require.Nil(t, b.acquire("1").Committed)
	b.holds(file("a", "12345"), file("b", "67890"))
}

func TestTheDefaultQuota(t *testing.T) {
	t.Parallel()
	s := New(nil, Options{})
	require.NoError(t, s.checkQuota([]sandbox.File{{Path: "a", Data: make([]byte, 67108864)}}))
	require.EqualError(t, s.checkQuota([]sandbox.File{{Path: "a", Data: make([]byte, 67108865)}}), "the session would hold 67108865 bytes: want at most 67108864")
	require.EqualError(t, s.checkQuota(make([]sandbox.File, 1001)), "the session would hold 1001 files: want at most 1000")
}

func TestFilesThatNoFolderCanHoldAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lease := b.acquire("1")
	for _, files := range [][]sandbox.File{
		{file("../a", "")},
		{file("/a", "")},
		{file("a\x00", "")},
		{file("", "")},
		{file("a/../b", "")},
		{file(sandbox.OutPath, "")},
		{file("a", ""), file("a", "")},
		{file("a", ""), file("a/b/c", "")},
		{file("a/b/c", ""), file("a/b", "")},
	} {
		require.ErrorIs(t, lease.Commit(b.ctx, Commit{Files: files}), ErrInvalid, "%v", files)
	}
	require.Zero(t, lease.Head.Version)
}

func TestALargeArchiveTravelsInPieces(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		large := make([]byte, 9<<20) // random, so that it stays as large: three pieces
		random := rand.NewChaCha8(sha256.Sum256([]byte("seed")))
		_, _ = random.Read(large)
		lease := b.acquire("1")
		b.commit(lease, sandbox.File{Path: "large", Data: large})
		require.Greater(t, lease.Head.StoredBytes, int64(9<<20))
		require.NoError(t, lease.Release(b.ctx))
		got, err := b.ReadFile(b.ctx, notes, "large")
		require.NoError(t, err)
		require.True(t, bytes.Equal(large, got.Data))

		// One that is replaced while it is being read is not put together from two.
		head, err := b.Info(b.ctx, notes)
		require.NoError(t, err)
		next := b.acquire("2")
		b.commit(next, file("small", "one"))
		_, changed, err := b.read(b.ctx, notes, head)
		require.NoError(t, err)
		require.True(t, changed)
		var parts []string
		require.NoError(t, b.rdb.Keys(b.ctx, "sandloop:*:part:*").Err())
		parts = b.rdb.Keys(b.ctx, "sandloop:*:part:*").Val()
		require.Empty(t, parts, "nothing stays on the way")
	})
}

func TestAPieceOfAFencedCommitIsRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lease := b.acquire("1")
	require.NoError(t, b.Delete(b.ctx, notes))
	require.ErrorIs(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "1")}}), ErrFenced)
	require.Equal(t, []string{}, b.rdb.Keys(b.ctx, "*").Val())
}

func TestAResultThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	err := b.acquire("1").Commit(b.ctx, Commit{Unchanged: true, Result: make([]byte, MaxResult+1)})
	require.ErrorContains(t, err, "100663297 bytes: want at most 100663296")
}

func TestADamagedArchiveIsToldApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lease := b.acquire("1")
	require.NoError(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "some text that is long enough")}, Result: []byte("r")}))
	require.NoError(t, lease.Release(b.ctx))
	archive := b.rdb.Get(b.ctx, b.keys.files(notes)).Val()
	for name, broken := range map[string]string{
		"cut off": archive[:len(archive)-3], "noise": string(bytes.Repeat([]byte("x"), len(archive))), "gone": "",
		"a changed byte": archive[:len(archive)-1] + string(archive[len(archive)-1]^1),
	} {
		require.NoError(t, b.rdb.Set(b.ctx, b.keys.files(notes), broken, 0).Err())
		_, err := b.Files(b.ctx, notes)
		require.ErrorIs(t, err, ErrDamaged, name)
		next := b.acquire("2")
		_, err = next.Files(b.ctx)
		require.ErrorIs(t, err, ErrDamaged, name)
		require.ErrorContains(t, err, "delete the session")
		require.NoError(t, next.Release(b.ctx))
	}
	for _, broken := range []string{"1 x", "x", "x x", ""} {
		require.NoError(t, b.rdb.Set(b.ctx, b.keys.result(notes, "1"), broken, 0).Err())
		_, err := b.Acquire(b.ctx, notes, "w", "1")
		require.ErrorIs(t, err, ErrDamaged, broken)
	}
	require.NoError(t, b.Delete(b.ctx, notes))
	require.NoError(t, b.acquire("3").Release(b.ctx))
}
