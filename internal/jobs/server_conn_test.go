package jobs

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A slot that is granted in the moment in which the time to wait ends.
func TestDequeueEndsAlthoughItsTimeEndedWithTheWaitForASlot(t *testing.T) {
	t.Parallel()
	s := newSlots(1, 0, DefaultWeights())
	_, held := s.tryOrWait(Batch)
	require.NotNil(t, held)
	conn := &serverConn{queue: Default, slots: s, stop: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
	ended := make(chan *redis.Cmd, 1)
	go func() {
		ended <- conn.dequeue(context.Background(), func() (*redis.Cmd, time.Duration) { return nothing(context.Background()), 0 })
	}()
	eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.waiting[Default]) == 1 }, "it waits")
	s.mu.Lock()
	<-time.After(safetyPoll * 3 / 2) // it has found out that its time is over and waits for the lock
	granted := s.grant(Default, *held)
	s.mu.Unlock()
	require.True(t, granted)
	require.ErrorIs(t, receive(t, ended).Err(), redis.Nil)
	receive(t, s.whenIdle())
}
