package jobs

import "slices"

const (
	// watchWidth is how many others a worker looks at in each sweep, and watchAllEvery the number of sweeps from one look
	// at all of them to the next. So what all workers ask of Redis together grows with their number and not with its square.
	watchWidth    = 8
	watchAllEvery = 15
)

// watched chooses whom to look at among the registered workers: everybody where they are few or it is time to, else those
// that follow this worker in the order of their ids, as on a ring, and whoever is suspected. Each worker is so looked at by
// eight others; of a whole rack that dies at once, some are found out in the look at all.
func (s *sweeper) watched(ids []string) []string {
	if len(ids) <= watchWidth+1 || s.count%watchAllEvery == 0 {
		return ids
	}
	ring := slices.Sorted(slices.Values(ids))
	at, isRegistered := slices.BinarySearch(ring, s.worker.id)
	if isRegistered {
		at++
	}
	ring = slices.Concat(ring[at:], ring[:at]) // who follows comes first
	chosen := slices.Clone(ring[:watchWidth])
	for _, id := range ring[watchWidth:] {
		if _, suspected := s.suspects[id]; suspected {
			chosen = append(chosen, id)
		}
	}
	return chosen
}
