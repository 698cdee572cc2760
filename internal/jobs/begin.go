package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// beginScript starts an attempt. ARGV: dispatch, worker, token, time, retention of a job that
// runs, canceled result, retention, channel for waiters. The reply is gone, done, stale,
// canceled, owned and the owner, or run and the attempt, its start, the time of submission, the queue, the
// first piece of the body, the trace, the tenant and the signature. ARGV[9] is the offset of that piece's last byte.
var beginScript = newScript(`
local state, dispatch, owner, token, cancel = get('state', 'dispatch', 'owner', 'token', 'cancel')
if not state then
	return {'gone'}
end
if state == 'done' then
	return {token == ARGV[3] and 'canceled' or 'done'}
end
if dispatch ~= ARGV[1] then
	return {'stale'}
end
if state == 'running' and token ~= ARGV[3] then
	return {'owned', owner}
end
if cancel and state == 'queued' then
	redis.call('HSET', KEYS[1], 'token', ARGV[3])
	finish(ARGV[6], 'canceled', ARGV[4], ARGV[7], ARGV[8])
	return {'canceled'}
end
if state == 'queued' then
	redis.call('HINCRBY', KEYS[1], 'attempt', 1)
	redis.call('HSET', KEYS[1], 'state', 'running', 'owner', ARGV[2], 'token', ARGV[3], 'started', ARGV[4])
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
local attempt, started, submitted, queue, trace, tenant, signature = get('attempt', 'started', 'submitted', 'queue', 'trace', 'tenant', 'signature')
return {'run', attempt, started, submitted, queue, redis.call('GETRANGE', KEYS[2], 0, ARGV[9]), trace or '', tenant or '', signature or ''}
`)

// beginning is the answer to the wish to start an attempt.
type beginning struct {
	// verdict is the first element of the script's reply.
	verdict   string
	owner     string
	attempt   int
	started   time.Time
	submitted time.Time
	queue     Queue
	body      string // its first piece
	trace     string
	tenant    string
	signature string
}

// begin makes the worker the owner of a job unless there is a reason not to.
func (w *Worker) begin(ctx context.Context, r ref, token string) (beginning, error) {
	w.store.rdb.SAdd(ctx, w.store.keys.running(w.id), r.String()) // a lost one is found by its lease
	reply, err := w.store.run(ctx, beginScript, r.ID, strconv.Itoa(r.Dispatch), w.id, token, formatTime(time.Now()),
		durationMillis(queuedRetention), w.store.canceledEnding(r.ID), durationMillis(w.store.retention), w.store.keys.doneChannel(r.ID), bodyPiece-1)
	if err != nil {
		return beginning{}, fmt.Errorf("begin job %s: %w", r, err)
	}
	b := beginning{verdict: reply[0]}
	switch b.verdict {
	case "owned":
		b.owner = reply[1]
	case "run":
		b.attempt, _ = strconv.Atoi(reply[1])
		b.started, b.submitted, b.queue, b.body = parseTime(reply[2]), parseTime(reply[3]), Queue(reply[4]), reply[5]
		b.trace, b.tenant, b.signature = reply[6], reply[7], reply[8]
	}
	return b, nil
}

// bodyPiece is how many bytes of a body travel in one reply, so that a large one on a slow
// connection does not run into a timeout.
const bodyPiece = 4 << 20

// readRest returns a whole body, of which the first piece is there. The error is errOversized if it is larger than any job.
func (s *store) readRest(ctx context.Context, id, body string) (string, error) {
	if len(body) < bodyPiece {
		return body, nil
	}
	size, err := s.rdb.StrLen(ctx, s.keys.body(id)).Result()
	if err == nil {
		err = jobContent.checkStored(int(size))
	}
	if err != nil {
		return body, fmt.Errorf("read body of job %s: %w", id, err)
	}
	var rest strings.Builder
	rest.WriteString(body)
	for piece := body; len(piece) == bodyPiece && rest.Len() <= jobContent.maxStored(); {
		piece, err = s.rdb.GetRange(ctx, s.keys.body(id), int64(rest.Len()), int64(rest.Len()+bodyPiece-1)).Result()
		if err != nil {
			return body, fmt.Errorf("read body of job %s: %w", id, err)
		}
		rest.WriteString(piece)
	}
	return rest.String(), nil
}

// decodeBody reads a stored job, which has neither id nor time of submission. A field that this program does not know is an error: a newer client means something by it.
func (s *store) decodeBody(id string, stored []byte) (job Job, err error) {
	packed, err := s.seals.Open(s.keys.body(id), stored)
	if err != nil {
		return Job{}, err
	}
	plain, err := jobContent.unpack(packed)
	if err != nil {
		return Job{}, err
	}
	if err := jobContent.checkBulk(plain); err != nil {
		return Job{}, err
	}
	return decodeStrict(plain)
}
