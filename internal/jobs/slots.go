package jobs

import "sync"

// slot is the right to run one job.
type slot struct {
	interactive bool // one of those that only interactive jobs may take
}

// slots bounds how many jobs a worker runs. When queues wait for one they get the shared
// slots in proportion to their weights (smooth weighted round robin).
type slots struct {
	weights map[Queue]int

	mu      sync.Mutex
	shared  int // free ones
	extra   int // free ones for interactive jobs alone
	held    int
	paused  bool // nobody is granted one
	credit  map[Queue]int
	waiting map[Queue][]chan slot
	idle    chan struct{} // not nil while somebody waits for held to become 0
}

func newSlots(shared, interactive int, weights map[Queue]int) *slots {
	return &slots{
		weights: weights, shared: shared, extra: interactive,
		credit: map[Queue]int{}, waiting: map[Queue][]chan slot{},
	}
}

// acquire waits for a slot until stop or expired is closed; it reports false then.
func (s *slots) acquire(queue Queue, stop, expired <-chan struct{}) (slot, bool) {
	select {
	case <-stop:
		return slot{}, false
	default:
	}
	granted, got := s.tryOrWait(queue)
	if got != nil {
		return *got, true
	}
	select {
	case taken := <-granted:
		return taken, true
	case <-stop:
	case <-expired:
	}
	if s.leave(queue, granted) {
		return slot{}, false
	}
	return <-granted, true // it was granted at the same moment
}

func (s *slots) tryOrWait(queue Queue) (chan slot, *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.paused:
	case queue == Interactive && s.extra > 0:
		s.extra--
		s.held++
		return nil, &slot{interactive: true}
	case s.shared > 0: // then nobody waits
		s.shared--
		s.held++
		return nil, &slot{}
	}
	granted := make(chan slot, 1)
	s.waiting[queue] = append(s.waiting[queue], granted)
	return granted, nil
}

// leave ends a wait. It reports false when the slot has been granted already.
func (s *slots) leave(queue Queue, granted chan slot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, waiting := range s.waiting[queue] {
		if waiting == granted {
			s.waiting[queue] = append(s.waiting[queue][:i], s.waiting[queue][i+1:]...)
			return true
		}
	}
	return false
}

// release passes a slot to the queue whose turn it is, or keeps it free.
func (s *slots) release(freed slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.paused && freed.interactive && s.grant(Interactive, freed):
	case freed.interactive:
		s.extra++
		s.held--
	case !s.paused && s.grant(s.next(), freed):
	default:
		s.shared++
		s.held--
	}
	if s.held == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// pause has nobody get a slot until resume. Those that are held are held on.
func (s *slots) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
}

// resume undoes pause and gives the free slots to those who wait.
func (s *slots) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = false
	for s.extra > 0 && s.grant(Interactive, slot{interactive: true}) {
		s.extra--
		s.held++
	}
	for s.shared > 0 && s.grant(s.next(), slot{}) {
		s.shared--
		s.held++
	}
}

func (s *slots) grant(queue Queue, freed slot) bool {
	waiting := s.waiting[queue]
	if len(waiting) == 0 {
		return false
	}
	s.waiting[queue] = waiting[1:]
	waiting[0] <- freed
	return true
}

// next is the queue whose turn it is among those that wait; "" if none does.
func (s *slots) next() Queue {
	var best Queue
	total := 0
	for _, queue := range Queues() {
		if len(s.waiting[queue]) == 0 {
			continue
		}
		s.credit[queue] += s.weights[queue]
		total += s.weights[queue]
		if best == "" || s.credit[queue] > s.credit[best] {
			best = queue
		}
	}
	if best != "" {
		s.credit[best] -= total
	}
	return best
}

// whenIdle returns a channel that is closed once no slot is held.
func (s *slots) whenIdle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}
