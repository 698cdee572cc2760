package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func stdout(text string) sandbox.Output {
	return sandbox.Output{Step: "run", Stream: sandbox.Stdout, Data: sandbox.Bytes(text)}
}

// follow collects what Follow passes on; the channel has each piece as it comes.
func (b *bundle) follow(id string) (pieces chan string, ended chan error) {
	pieces, ended = make(chan string, 1000), make(chan error, 1)
	go func() {
		ended <- b.client.Follow(b.ctx, id, func(o sandbox.Output) {
			pieces <- fmt.Sprintf("%s/%s:%s", o.Step, o.Stream, o.Data)
		})
		close(pieces)
	}()
	return pieces, ended
}

func TestFollowPassesOnOutputAsItComes(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		j := job("1")
		j.Follow = true
		id := b.submit(j)
		pieces, ended := b.follow(id)
		r := receive(t, runner.runs)
		r.program.OnOutput(stdout("one"))
		require.Equal(t, "run/stdout:one", receive(t, pieces), "while the program runs")
		r.program.OnOutput(sandbox.Output{Step: "run", Stream: sandbox.Stderr, Data: sandbox.Bytes{0xff, 0}})
		require.Equal(t, "run/stderr:\xff\x00", receive(t, pieces))
		r.program.OnOutput(stdout("last"))
		r.succeed("")
		require.Equal(t, "run/stdout:last", receive(t, pieces))
		require.NoError(t, receive(t, ended))

		again, ended := b.follow(id)
		require.NoError(t, receive(t, ended))
		var all []string
		for piece := range again {
			all = append(all, piece)
		}
		require.Equal(t, "run/stdout:one run/stderr:\xff\x00 run/stdout:last", strings.Join(all, " "), "from the beginning")
		ttl, err := b.rdb.TTL(b.ctx, "sandloop:{"+id+"}:out").Result()
		require.NoError(t, err)
		require.Greater(t, ttl, time.Minute)
		require.LessOrEqual(t, ttl, 10*time.Minute)
	})
}

func TestFollowTellsOfANewAttempt(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		j := job("1")
		j.Follow = true
		pieces, ended := b.follow(b.submit(j))
		r := receive(t, runner.runs)
		r.program.OnOutput(stdout("lost"))
		r.answer <- answer{err: errors.New("no daemon")}
		r = receive(t, runner.runs)
		r.program.OnOutput(stdout("kept"))
		r.succeed("")
		require.NoError(t, receive(t, ended))
		require.Equal(t, "run/stdout:lost", receive(t, pieces))
		require.Equal(t, "attempt/:2", receive(t, pieces))
		require.Equal(t, "run/stdout:kept", receive(t, pieces))
	})
}

func TestFollowOfAJobThatKeepsNoOutput(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		id := b.submit(job("1"))
		pieces, ended := b.follow(id)
		r := receive(t, runner.runs)
		require.Nil(t, r.program.OnOutput)
		r.succeed("")
		require.NoError(t, receive(t, ended))
		require.Empty(t, pieces)
		require.ErrorIs(t, b.client.Follow(b.ctx, "nobody", func(sandbox.Output) {}), ErrNotFound)
	})
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.client.Follow(ctx, b.submit(job("1")), func(sandbox.Output) {}), context.DeadlineExceeded)
}

func TestOutputNeverWaitsForRedis(t *testing.T) {
	t.Parallel()
	rdb, err := ConnectRedis(RedisOptions{Addr: "127.0.0.1:1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, rdb.Close()) }()
	writer := newOutputWriter(t.Context(), newStore(rdb, "", 0, nil, nil), "x", 1)
	for range 1000 {
		writer.write(stdout(strings.Repeat("x", 10_000)))
	}
	writer.mu.Lock()
	require.LessOrEqual(t, writer.size, 1<<20, "what cannot be sent is bounded")
	writer.mu.Unlock()
	writer.close()
	writer.write(stdout("after the end"))
}
