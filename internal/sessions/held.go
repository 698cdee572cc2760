package sessions

// Held is how many live interpreters there are at this moment, those that start or end included.
func (s *Sessions) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places
}
