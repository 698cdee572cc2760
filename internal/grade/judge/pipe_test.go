package judge

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPipeGivesAllThatWasWrittenBeforeItsEnd(t *testing.T) {
	t.Parallel()
	p := newPipe(10, new(atomic.Int64))
	for _, text := range []string{"abc", "", "def"} {
		n, err := p.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	require.NoError(t, p.Close())
	_, err := p.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	got, err := io.ReadAll(p)
	require.NoError(t, err)
	require.Equal(t, "abcdef", string(got))
}

func TestAPipeWakesItsReader(t *testing.T) {
	t.Parallel()
	for name, wake := range map[string]func(*pipe){
		"data":   func(p *pipe) { _, _ = p.Write([]byte("x")) },
		"end":    func(p *pipe) { _ = p.Close() },
		"hangup": func(p *pipe) { p.hangUp() },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPipe(10, new(atomic.Int64))
			read := make(chan int)
			go func() {
				n, _ := p.Read(make([]byte, 8))
				read <- n
			}()
			synctest.Wait()
			wake(p)
			require.Equal(t, map[string]int{"data": 1}[name], <-read, name)
		})
	}
}

func TestAFullPipeRefusesAndHasNoGap(t *testing.T) {
	t.Parallel()
	p := newPipe(4, new(atomic.Int64))
	_, err := p.Write([]byte("abcd"))
	require.NoError(t, err)
	_, err = p.Write([]byte("e"))
	require.ErrorIs(t, err, errOverflow)
	require.Zero(t, p.end(), "the writer did not close it")
	into := make([]byte, 2)
	_, err = p.Read(into)
	require.NoError(t, err)
	_, err = p.Write([]byte("f"))
	require.Error(t, err, "although there is room")
	rest, err := io.ReadAll(p)
	require.NoError(t, err)
	require.Equal(t, "abcd", string(into)+string(rest))
}

func TestAPipeWithoutAReaderKeepsNothing(t *testing.T) {
	t.Parallel()
	p := newPipe(100, new(atomic.Int64))
	_, err := p.Write([]byte("abc"))
	require.NoError(t, err)
	p.hangUp()
	require.Zero(t, p.data.Len())
	_, err = p.Write([]byte("d"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = p.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestAPipeWasClosedTheFirstTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(1, new(atomic.Int64))
		require.Zero(t, p.end())
		first := time.Now()
		_ = p.Close()
		time.Sleep(time.Second)
		_ = p.Close()
		require.Equal(t, moment{first, 1}, p.end())
	})
}
