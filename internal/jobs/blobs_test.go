package jobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

// helloID is the SHA-256 of "hello\n", from sha256sum.
const helloID = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

func (b *bundle) put(contents ...[]byte) []string {
	b.t.Helper()
	ids, err := b.client.PutBlobs(b.ctx, contents...)
	require.NoError(b.t, err)
	return ids
}

func noise(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	_, err := rand.Read(data)
	require.NoError(t, err)
	return data
}

func TestBlobsComeBackAsTheyWere(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		contents := [][]byte{[]byte("hello\n"), {}, bytes.Repeat([]byte("1 2 3\n"), 1<<20), noise(t, 9<<20), noise(t, 4<<20-1), []byte("hello\n")}
		ids := b.put(contents...)
		require.Equal(t, helloID, ids[0])
		require.Equal(t, helloID, ids[5])
		blobs := NewBlobs(b.rdb, "", 1<<30, nil, nil)
		for i, id := range ids {
			content, err := blobs.Get(b.ctx, id)
			require.NoError(t, err)
			require.True(t, bytes.Equal(contents[i], content), "blob %d", i)
		}
		size, err := b.rdb.StrLen(b.ctx, "sandloop:blob:{"+ids[2]+"}").Result()
		require.NoError(t, err)
		require.Less(t, size, int64(100_000), "it is stored compressed")
		keys, err := b.rdb.Keys(b.ctx, "*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 5, "equal contents are one blob, and no piece is left")
	})
}

func TestPutBlobsKeepsWhatIsThere(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		small, large := []byte("hello\n"), noise(t, 5<<20)
		ids := b.put(small, large)
		for _, id := range ids {
			key := "sandloop:blob:{" + id + "}"
			left, err := b.rdb.TTL(b.ctx, key).Result()
			require.NoError(t, err)
			require.InDelta(t, 30*24*time.Hour, left, float64(time.Minute))
			require.NoError(t, b.rdb.Expire(b.ctx, key, time.Hour).Err())
		}
		require.NoError(t, b.rdb.Append(b.ctx, "sandloop:blob:{"+helloID+"}", "mark").Err())
		b.put(large, small)
		for _, id := range ids {
			left, err := b.rdb.TTL(b.ctx, "sandloop:blob:{"+id+"}").Result()
			require.NoError(t, err)
			require.InDelta(t, 30*24*time.Hour, left, float64(time.Minute))
		}
		stored, err := b.rdb.Get(b.ctx, "sandloop:blob:{"+helloID+"}").Result()
		require.NoError(t, err)
		require.Equal(t, "jhello\nmark", stored, "its content did not travel again")
	})
}

func TestHasBlobs(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.put([]byte("hello\n"))
		absent := grade.BlobID([]byte("absent"))
		require.NoError(t, b.rdb.Expire(b.ctx, "sandloop:blob:{"+helloID+"}", time.Hour).Err())
		there, err := b.client.HasBlobs(b.ctx, helloID, absent, helloID)
		require.NoError(t, err)
		require.Equal(t, map[string]bool{helloID: true, absent: false}, there)
		left, err := b.rdb.TTL(b.ctx, "sandloop:blob:{"+helloID+"}").Result()
		require.NoError(t, err)
		require.Greater(t, left, 24*time.Hour)
		_, err = b.client.HasBlobs(b.ctx, helloID, "}x{")
		require.EqualError(t, err, `look for blobs: "}x{" is no blob's id: want 64 hex digits in lower case`)
	})
}

func TestManyBlobsTravelTogether(t *testing.T) {
	t.Parallel()
	b := setup(t)
	contents := make([][]byte, 2500)
	for i := range contents {
		contents[i] = []byte(fmt.Sprint(i))
	}
	before := b.commands("set")
	ids := b.put(contents...)
	require.Equal(t, before+2500, b.commands("set"))
	there, err := b.client.HasBlobs(b.ctx, ids...)
	require.NoError(t, err)
	for _, id := range ids {
		require.True(t, there[id])
	}
}

// commands counts the calls of a command as Redis saw them.
func (b *bundle) commands(name string) int {
	b.t.Helper()
	info, err := b.rdb.Info(b.ctx, "commandstats").Result()
	require.NoError(b.t, err)
	var calls int
	if at := bytes.Index([]byte(info), []byte("cmdstat_"+name+":calls=")); at >= 0 {
		_, err = fmt.Sscanf(info[at:], "cmdstat_"+name+":calls=%d", &calls)
		require.NoError(b.t, err)
	}
	return calls
}

func TestPutBlobsRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.client.PutBlobs(b.ctx, []byte("hello\n"), make([]byte, 128<<20+1))
	require.ErrorIs(t, err, ErrTooLarge)
	require.EqualError(t, err, "put blob 2 of 2: it is too large: 134217729 bytes, want at most 134217728")
	there, err := b.client.HasBlobs(b.ctx, helloID)
	require.NoError(t, err)
	require.False(t, there[helloID], "all or nothing")
	largest := make([]byte, 128<<20)
	content, err := NewBlobs(b.rdb, "", 0, nil, nil).Get(b.ctx, b.put(largest)[0])
	require.NoError(t, err)
	require.True(t, bytes.Equal(largest, content))
}

func TestBlobThatIsNotThere(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		blobs := NewBlobs(b.rdb, "", 1<<20, nil, nil)
		_, err := blobs.Get(b.ctx, helloID)
		require.ErrorIs(t, err, ErrNoBlob)
		require.ErrorContains(t, err, helloID)
		_, err = blobs.Get(b.ctx, "}:x")
		require.ErrorIs(t, err, ErrNoBlob)
		b.put([]byte("hello\n"))
		content, err := blobs.Get(b.ctx, helloID)
		require.NoError(t, err, "that it was not there is not remembered")
		require.Equal(t, "hello\n", string(content))
		_, err = NewBlobs(b.rdb, "other", 0, nil, nil).Get(b.ctx, helloID)
		require.ErrorIs(t, err, ErrNoBlob, "another installation's")
	})
}

func TestDamagedBlobIsRemovedSoThatItCanBePutAgain(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		blobs := NewBlobs(b.rdb, "", 1<<20, nil, nil)
		for _, damaged := range [][]byte{[]byte("jhellO\n"), []byte("?hello\n"), []byte("z123"), []byte("j"), pack(make([]byte, 128<<20+1))} {
			b.put([]byte("hello\n"))
			require.NoError(t, b.rdb.Set(b.ctx, "sandloop:blob:{"+helloID+"}", damaged, time.Hour).Err())
			_, err := blobs.Get(b.ctx, helloID)
			require.ErrorIs(t, err, ErrNoBlob, "%.10q", damaged)
			require.ErrorContains(t, err, "was damaged")
			there, err := b.client.HasBlobs(b.ctx, helloID)
			require.NoError(t, err)
			require.False(t, there[helloID])
		}
		b.put([]byte("hello\n"))
		content, err := blobs.Get(b.ctx, helloID)
		require.NoError(t, err)
		require.Equal(t, "hello\n", string(content))
	})
}

func TestTheCacheKeepsWhatWasUsedLast(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		const size = 100_000
		var contents [][]byte
		for range 6 {
			contents = append(contents, noise(t, size))
		}
		ids := b.put(contents...)
		blobs := NewBlobs(b.rdb, "", 4*(size+2000), nil, nil)
		get := func(i int) error {
			content, err := blobs.Get(b.ctx, ids[i])
			if err == nil {
				require.True(t, bytes.Equal(contents[i], content))
				require.LessOrEqual(t, blobs.size, int64(4*(size+2000)))
			}
			return err
		}
		for _, i := range []int{0, 1, 2, 0, 3, 4} { // 4 does not fit until 1, which was not used for longest, is dropped
			require.NoError(t, get(i))
		}
		require.NoError(t, b.rdb.FlushAll(b.ctx).Err())
		for _, i := range []int{0, 2, 3, 4} {
			require.NoError(t, get(i), "blob %d is in memory", i)
		}
		require.ErrorIs(t, get(1), ErrNoBlob)
		require.ErrorIs(t, get(5), ErrNoBlob)
		require.Len(t, blobs.entries, 4)
		require.Equal(t, 4, blobs.recent.Len())
	})
}

func TestMemoryOfTheCacheIsBound(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	var contents [][]byte
	for i := range 300 {
		contents = append(contents, noise(t, 1+i*37))
	}
	ids := b.put(contents...)
	blobs := NewBlobs(b.rdb, "", 100_000, nil, nil)
	for round := range 2 {
		for i := range ids {
			_, err := blobs.Get(b.ctx, ids[(i*7+round)%len(ids)])
			require.NoError(t, err)
			held := int64(0)
			for element := blobs.recent.Front(); element != nil; element = element.Next() {
				held += int64(len(element.Value.(*blobEntry).content))
			}
			require.LessOrEqual(t, held, int64(100_000))
			require.GreaterOrEqual(t, blobs.size, held)
		}
	}
	tooLarge := b.put(noise(t, 100_001))
	before := len(blobs.entries)
	_, err := blobs.Get(b.ctx, tooLarge[0])
	require.NoError(t, err, "what does not fit is read all the same")
	require.Len(t, blobs.entries, before, "and drops nothing")
	_, err = NewBlobs(b.rdb, "", 0, nil, nil).Get(b.ctx, ids[0])
	require.NoError(t, err)
}

// slowConn is a connection whose reads of blobs wait for the test, whatever becomes of their contexts.
type slowConn struct {
	redis.UniversalClient
	reads   atomic.Int32
	started chan context.Context
	release chan error
}

func (s *slowConn) GetRange(ctx context.Context, key string, start, end int64) *redis.StringCmd {
	s.reads.Add(1)
	s.started <- ctx
	if err := <-s.release; err != nil {
		cmd := redis.NewStringCmd(ctx)
		cmd.SetErr(err)
		return cmd
	}
	return s.UniversalClient.GetRange(ctx, key, start, end)
}

func (b *bundle) slow() (*slowConn, *Blobs) {
	conn := &slowConn{UniversalClient: b.rdb, started: make(chan context.Context, 100), release: make(chan error, 100)}
	return conn, NewBlobs(conn, "", 1<<20, nil, nil)
}

func (b *Blobs) waiters(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fetch, underWay := b.fetches[id]; underWay {
		return fetch.waiters
	}
	return 0
}

func TestManyWhoWantOneBlobReadItOnce(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	b.put([]byte("hello\n"))
	conn, blobs := b.slow()
	var all sync.WaitGroup
	var right atomic.Int32
	for range 50 {
		all.Go(func() {
			if content, err := blobs.Get(b.ctx, helloID); err == nil && string(content) == "hello\n" {
				right.Add(1)
			}
		})
	}
	receive(t, conn.started)
	eventually(t, func() bool { return blobs.waiters(helloID) == 50 }, "all wait")
	conn.release <- nil
	all.Wait()
	require.EqualValues(t, 50, right.Load())
	require.EqualValues(t, 1, conn.reads.Load())
	_, err := blobs.Get(b.ctx, helloID)
	require.NoError(t, err)
	require.EqualValues(t, 1, conn.reads.Load(), "from memory")
	require.Empty(t, blobs.fetches)
}

func TestWhoStopsWaitingForABlobDisturbsNobody(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	b.put([]byte("hello\n"))
	conn, blobs := b.slow()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(b.ctx)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := blobs.Get(ctx, helloID); first <- err }()
	receive(t, conn.started)
	go func() { _, err := blobs.Get(b.ctx, helloID); second <- err }()
	eventually(t, func() bool { return blobs.waiters(helloID) == 2 }, "both wait")
	cancel(gone)
	require.ErrorIs(t, receive(t, first), gone)
	conn.release <- nil
	require.NoError(t, receive(t, second))
	require.EqualValues(t, 1, conn.reads.Load())
}

func TestTransferThatNobodyWaitsForEnds(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	b.put([]byte("hello\n"))
	conn, blobs := b.slow()
	ctx, cancel := context.WithCancel(b.ctx)
	alone := make(chan error, 1)
	go func() { _, err := blobs.Get(ctx, helloID); alone <- err }()
	transfer := receive(t, conn.started)
	require.NoError(t, transfer.Err())
	cancel()
	require.ErrorIs(t, receive(t, alone), context.Canceled)
	require.ErrorIs(t, transfer.Err(), context.Canceled)
	next := make(chan error, 1)
	go func() { _, err := blobs.Get(b.ctx, helloID); next <- err }()
	require.NoError(t, receive(t, conn.started).Err(), "the next one starts anew")
	conn.release <- nil
	conn.release <- nil
	require.NoError(t, receive(t, next))
}

func TestBlobIsReadAgainWhenRedisDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	b.put([]byte("hello\n"))
	conn, blobs := b.slow()
	conn.release <- errors.New("LOADING Redis is loading the dataset in memory")
	conn.release <- errors.New("connection refused")
	conn.release <- nil
	content, err := blobs.Get(b.ctx, helloID)
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(content))
	require.EqualValues(t, 3, conn.reads.Load())
}

func TestPutBlobsWithoutRedisIsAnError(t *testing.T) {
	t.Parallel()
	rdb, err := ConnectRedis(RedisOptions{Addr: "127.0.0.1:1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, rdb.Close()) }()
	_, err = NewClient(rdb, ClientOptions{}).PutBlobs(t.Context(), []byte("x"))
	require.ErrorContains(t, err, "look for blobs")
}
