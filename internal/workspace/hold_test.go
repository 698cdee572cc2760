package workspace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALiveInterpreterIsTheSessionsUntilItIsLetGo(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		require.Nil(t, lease.Head.Live)
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w1", Language: "python", Nonce: "n1"}))
		require.Equal(t, "n1", lease.Head.Live.Nonce)
		require.NoError(t, lease.Release(b.ctx))

		next := b.acquire("2")
		require.Equal(t, lease.Head.Live, next.Head.Live)
		require.Equal(t, "w1", next.Head.Live.Worker)
		require.Equal(t, "python", next.Head.Live.Language)
		require.WithinDuration(t, time.Now(), next.Head.Live.Since, time.Minute)
		held, err := b.Holds(b.ctx, notes, "n1")
		require.NoError(t, err)
		require.True(t, held)

		require.NoError(t, b.LetGo(b.ctx, notes, "n0", "a late word of an older one"))
		held, err = b.Holds(b.ctx, notes, "n1")
		require.NoError(t, err)
		require.True(t, held)
		for range 2 {
			require.NoError(t, b.LetGo(b.ctx, notes, "n1", "nobody called it for 15 minutes"))
		}
		held, err = b.Holds(b.ctx, notes, "n1")
		require.NoError(t, err)
		require.False(t, held)
		info, err := b.Info(b.ctx, notes)
		require.NoError(t, err)
		require.Nil(t, info.Live)
		require.Equal(t, "nobody called it for 15 minutes", info.LiveEnded)
	})
}

func TestAnotherInterpreterTakesThePlaceOfTheFirst(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		lease := b.acquire("1")
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w1", Language: "python", Nonce: "n1"}))
		require.NoError(t, b.LetGo(b.ctx, notes, "n1", "its worker died"))
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w2", Language: "python", Nonce: "n2"}))
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w3", Language: "node", Nonce: "n3"}))
		require.NoError(t, b.LetGo(b.ctx, notes, "n2", "too late"))
		info, err := b.Info(b.ctx, notes)
		require.NoError(t, err)
		require.Equal(t, "n3", info.Live.Nonce)
		require.Equal(t, lease.Head.Live, info.Live)
		require.Empty(t, info.LiveEnded, "the reason of an earlier end is over with the next")
		held, err := b.Holds(b.ctx, notes, "n2")
		require.NoError(t, err)
		require.False(t, held)
	})
}

func TestLettingGoMakesNoSession(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		require.NoError(t, b.LetGo(b.ctx, notes, "n", "it was deleted"))
		held, err := b.Holds(b.ctx, notes, "n")
		require.NoError(t, err)
		require.False(t, held)
		held, err = b.Holds(b.ctx, notes, "")
		require.NoError(t, err)
		require.False(t, held, "no nonce is none")
		_, err = b.Info(b.ctx, notes)
		require.ErrorIs(t, err, ErrNotFound)
	})
}
