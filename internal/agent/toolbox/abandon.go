package toolbox

import "context"

// Abandon cancels the jobs of submit_job that have not ended, for when nobody will come back for them. It tries each for
// two seconds at most.
func (t *Toolbox) Abandon(ctx context.Context) {
	t.mu.Lock()
	var ids []string
	for id, job := range t.submitted {
		if !job.done {
			ids = append(ids, id)
		}
	}
	t.mu.Unlock()
	for _, id := range ids {
		t.cancel(ctx, id) // does nothing to one that has ended
	}
}
