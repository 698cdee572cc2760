package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// finishScript stores a result if the attempt still owns the job. ARGV: token, result,
// outcome, time, retention, channel for waiters, line of history. The reply is stored or lost.
var finishScript = newScript(`
local state, token = get('state', 'token')
if token ~= ARGV[1] then
	return {'lost'}
end
if state == 'done' then
	return {'stored'}
end
if state ~= 'running' then
	return {'lost'}
end
remember(ARGV[7])
finish(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return {'stored'}
`)

// finish stores the packed result of an attempt. It reports false when another attempt owns the
// job by now, or it has a result: then nothing was written.
func (w *Worker) finish(ctx context.Context, a *attempt, outcome sandbox.Outcome, packed []byte) (bool, error) {
	now := time.Now()
	history := Attempt{Number: a.number, Worker: w.id, Started: a.started, Ended: now}.encode()
	reply, err := w.store.run(ctx, finishScript, a.ref.ID, a.token, packed, string(outcome), formatTime(now),
		durationMillis(w.store.retention), w.store.keys.doneChannel(a.ref.ID), history)
	if err != nil {
		return false, fmt.Errorf("store result of job %s: %w", a.ref, err)
	}
	return reply[0] == "stored", nil
}
