package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// queueUp makes n waiters of a queue and returns what they were granted through.
func queueUp(t *testing.T, s *slots, queue Queue, n int) []chan slot {
	t.Helper()
	granted := make([]chan slot, n)
	for i := range granted {
		var got *slot
		granted[i], got = s.tryOrWait(queue)
		require.Nil(t, got)
	}
	return granted
}

// By hand, with the weights 6, 3 and 1 and credits that start at 0. Each turn adds the
// weights to the credits, picks the highest and takes 10 from it:
//
//	6  3  1 -> i (-4  3  1)    2  6  2 -> d ( 2 -4  2)    8 -1  3 -> i (-2 -1  3)
//	4  2  4 -> i (-6  2  4)    0  5  5 -> d ( 0 -5  5)    6 -2  6 -> i (-4 -2  6)
//	2  1  7 -> b ( 2  1 -3)    8  4 -2 -> i (-2  4 -2)    4  7 -1 -> d ( 4 -3 -1)
//	10 0  0 -> i ( 0  0  0)
func TestSlotsAreSharedByWeight(t *testing.T) {
	t.Parallel()
	s := newSlots(1, 0, DefaultWeights())
	_, held := s.tryOrWait(Batch)
	require.NotNil(t, held)
	waiting := map[Queue][]chan slot{}
	for _, queue := range Queues() {
		waiting[queue] = queueUp(t, s, queue, 20)
	}
	var order string
	for range 20 {
		s.release(*held)
		for queue, chans := range waiting {
			select {
			case got := <-chans[0]:
				*held = got
				waiting[queue] = chans[1:]
				order += string(queue[0])
			default:
			}
		}
	}
	require.Equal(t, "idiidibidi"+"idiidibidi", order)
}

func TestInteractiveJobsHaveSlotsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSlots(1, 1, DefaultWeights())
	_, shared := s.tryOrWait(Batch)
	require.Equal(t, &slot{}, shared)
	batch := queueUp(t, s, Batch, 1)
	_, extra := s.tryOrWait(Interactive)
	require.Equal(t, &slot{interactive: true}, extra, "although all shared slots are taken")
	s.release(*extra)
	require.Empty(t, batch[0], "a batch job never gets it")
	s.release(*shared)
	require.Len(t, batch[0], 1)
}

func TestAcquireGivesUp(t *testing.T) {
	t.Parallel()
	s := newSlots(1, 0, DefaultWeights())
	held, ok := s.acquire(Default, nil, nil)
	require.True(t, ok)
	stop := make(chan struct{})
	close(stop)
	_, ok = s.acquire(Default, stop, nil)
	require.False(t, ok)
	_, ok = s.acquire(Default, nil, stop)
	require.False(t, ok)
	s.release(held)
	require.Equal(t, 1, s.shared, "who gave up is granted nothing")
}

func TestWhenIdleIsWhenTheLastSlotIsFree(t *testing.T) {
	t.Parallel()
	s := newSlots(2, 1, DefaultWeights())
	receive(t, s.whenIdle())
	first, _ := s.acquire(Interactive, nil, nil)
	second, _ := s.acquire(Default, nil, nil)
	idle := s.whenIdle()
	s.release(first)
	select {
	case <-idle:
		require.Fail(t, "a slot is held")
	default:
	}
	s.release(second)
	receive(t, idle)
}
