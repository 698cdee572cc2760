package workspace

import (
	"context"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestAClientListsReadsWritesAndDeletes(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		list, err := b.List(b.ctx, "alice")
		require.NoError(t, err)
		require.Empty(t, list)
		head, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "1"), file("dir/b", "22"), file("dir/c", "333")}, nil, 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, head.Version)
		head, err = b.Write(b.ctx, notes, []sandbox.File{file("a", "one")}, []string{"dir", "nothing"}, 0)
		require.NoError(t, err)
		require.EqualValues(t, 2, head.Version)
		b.holds(file("a", "one"))
		_, err = b.Write(b.ctx, Session{Tenant: "alice", Name: "drafts"}, nil, nil, 0)
		require.NoError(t, err)
		_, err = b.Write(b.ctx, Session{Tenant: "bob", Name: "his"}, []sandbox.File{file("x", "")}, nil, 0)
		require.NoError(t, err)

		list, err = b.List(b.ctx, "alice")
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, "drafts", list[0].Name)
		require.Equal(t, "notes", list[1].Name)
		require.Equal(t, 1, list[1].Files)
		require.EqualValues(t, 3, list[1].Bytes)
		require.WithinDuration(t, time.Now(), list[1].UsedAt, time.Minute)
		require.WithinDuration(t, time.Now().Add(24*time.Hour), list[1].ExpiresAt, time.Minute)
		got, err := b.ReadFile(b.ctx, notes, "a")
		require.NoError(t, err)
		require.Equal(t, file("a", "one"), got)
		_, err = b.ReadFile(b.ctx, notes, "b")
		require.ErrorIs(t, err, fs.ErrNotExist)

		require.NoError(t, b.Delete(b.ctx, notes))
		require.ErrorIs(t, b.Delete(b.ctx, notes), ErrNotFound)
		_, err = b.ReadFile(b.ctx, notes, "a")
		require.ErrorIs(t, err, ErrNotFound)
		list, err = b.List(b.ctx, "alice")
		require.NoError(t, err)
		require.Len(t, list, 1)
		head, err = b.Write(b.ctx, notes, []sandbox.File{file("new", "")}, nil, 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, head.Version, "it begins anew")
	})
}

func TestDeletingASessionFencesTheJobThatHasIt(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		b.commit(lease, file("a", "1"))
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w", Language: "python", Nonce: "n"}))
		require.NoError(t, b.Delete(b.ctx, notes))
		require.ErrorIs(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "2")}}), ErrFenced)
		_, err := b.Info(b.ctx, notes)
		require.ErrorIs(t, err, ErrNotFound, "nothing comes back")

		next := b.acquire("2")
		require.Nil(t, next.Head.Live)
		require.ErrorIs(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "2")}}), ErrFenced)
		files, err := next.Files(b.ctx)
		require.NoError(t, err)
		require.Empty(t, files)
	})
}

func TestAWriteWaitsForTheJobThatHasTheSession(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		_, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "client")}, nil, 0)
		require.ErrorIs(t, err, ErrBusy)
		written := make(chan error, 1)
		go func() {
			_, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "client")}, nil, bound)
			written <- err
		}()
		b.waiting()
		b.commit(lease, file("a", "job"), file("b", "job"))
		require.NoError(t, lease.Release(b.ctx))
		require.NoError(t, <-written)
		b.holds(file("a", "client"), file("b", "job"))
	})
}

func TestAWriteThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Quota = 5 })
	_, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "123")}, nil, 0)
	require.NoError(t, err)
	var quota *QuotaError
	_, err = b.Write(b.ctx, notes, []sandbox.File{file("b", "456")}, nil, 0)
	require.ErrorAs(t, err, &quota)
	require.EqualValues(t, 6, quota.Size)
	_, err = b.Write(b.ctx, notes, []sandbox.File{file("a/b", "4")}, nil, 0)
	require.ErrorContains(t, err, `"a" is a file`)
	_, err = b.Write(b.ctx, notes, []sandbox.File{file("../b", "4")}, nil, 0)
	require.ErrorContains(t, err, "not a clean relative path")
	b.holds(file("a", "123"))
	require.NoError(t, b.acquire("1").Release(b.ctx), "no lease stays")
}

func TestASessionExpiresAfterItsLastUse(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Expiry = 500 * time.Millisecond })
	_, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "1")}, nil, 0)
	require.NoError(t, err)
	require.Greater(t, b.rdb.PTTL(b.ctx, b.keys.files(notes)).Val(), b.rdb.PTTL(b.ctx, b.keys.head(notes)).Val(), "no head without its files")
	require.Eventually(t, func() bool { return b.rdb.Exists(b.ctx, b.keys.head(notes)).Val() == 0 }, bound, 5*time.Millisecond)
	_, err = b.Files(b.ctx, notes)
	require.ErrorIs(t, err, ErrNotFound)
	list, err := b.List(b.ctx, "alice")
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = b.Write(b.ctx, Session{Tenant: "alice", Name: "other"}, nil, nil, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, b.rdb.ZRange(b.ctx, b.keys.index("alice"), 0, -1).Val(), "it dropped out of the index")

	lease := b.acquire("1")
	require.Zero(t, lease.Head.Version)
	files, err := lease.Files(b.ctx)
	require.NoError(t, err)
	require.Empty(t, files, "the old archive is no part of a new session")
}

func TestReadingKeepsASession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Write(b.ctx, notes, []sandbox.File{file("a", "1")}, nil, 0)
	require.NoError(t, err)
	require.NoError(t, b.rdb.PExpire(b.ctx, b.keys.head(notes), bound).Err())
	b.holds(file("a", "1"))
	require.Greater(t, b.rdb.PTTL(b.ctx, b.keys.head(notes)).Val(), 23*time.Hour)
}

func TestNamesOfSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"", "a b", "ä", "a/b", "{x}", "a\n", string(make([]byte, 65))} {
		session := Session{Name: name}
		_, acquired := b.Acquire(b.ctx, session, "w", "1")
		_, info := b.Info(b.ctx, session)
		_, read := b.Files(b.ctx, session)
		_, written := b.Write(b.ctx, session, nil, nil, 0)
		for _, err := range []error{acquired, info, read, written, b.Delete(b.ctx, session)} {
			require.ErrorContains(t, err, "want up to 64 letters", "%q", name)
		}
	}
	require.NoError(t, CheckName("A-z_0.9"))
	require.NoError(t, CheckName(string(make64())))
	require.Equal(t, []string{}, b.rdb.Keys(b.ctx, "*").Val())
}

func make64() []byte {
	name := make([]byte, 64)
	for i := range name {
		name[i] = 'x'
	}
	return name
}

func TestTenantsWithStrangeNamesDoNotMeet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sessions := []Session{{"", "a"}, {"{}", "a"}, {"}x{", "a"}, {"alice:a", "a"}, {"alice", "a"}}
	for i, session := range sessions {
		_, err := b.Write(b.ctx, session, []sandbox.File{file("n", string(rune('0'+i)))}, nil, 0)
		require.NoError(t, err)
	}
	for i, session := range sessions {
		got, err := b.ReadFile(b.ctx, session, "n")
		require.NoError(t, err)
		require.Equal(t, string(rune('0'+i)), string(got.Data))
		list, err := b.List(b.ctx, session.Tenant)
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
}

func TestRedisThatIsAwayIsAnErrorThatNamesTheSession(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	b := connect(t, rdb)
	_, acquired := b.Acquire(b.ctx, notes, "w", "1")
	_, waited := b.AcquireWait(b.ctx, notes, "w", "1", bound)
	_, info := b.Info(b.ctx, notes)
	_, read := b.ReadFile(b.ctx, notes, "a")
	_, written := b.Write(b.ctx, notes, nil, nil, bound)
	_, held := b.Holds(b.ctx, notes, "n")
	for _, err := range []error{acquired, waited, info, read, written, held, b.Delete(b.ctx, notes), b.LetGo(b.ctx, notes, "n", "r")} {
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.ErrorContains(t, err, `"notes"`)
		require.NotErrorIs(t, err, ErrNotFound)
	}
	_, err := b.List(b.ctx, "alice")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestKeysOfAnotherTypeAreErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.rdb.Set(b.ctx, b.keys.head(notes), "text", 0).Err())
	_, acquired := b.Acquire(b.ctx, notes, "w", "1")
	_, info := b.Info(b.ctx, notes)
	for _, err := range []error{acquired, info} {
		require.ErrorContains(t, err, "WRONGTYPE")
		require.NotErrorIs(t, err, ErrNotFound)
	}
	require.NoError(t, b.rdb.Set(b.ctx, b.keys.index("alice"), "text", 0).Err())
	_, err := b.Acquire(b.ctx, Session{Tenant: "alice", Name: "other"}, "w", "1")
	require.ErrorContains(t, err, "WRONGTYPE")
	_, err = b.List(context.WithoutCancel(b.ctx), "alice")
	require.ErrorContains(t, err, "WRONGTYPE")
	info2, err := b.Info(b.ctx, Session{Tenant: "alice", Name: "other"})
	require.NoError(t, err)
	require.Nil(t, info2.Busy, "the lease was given back")
}
