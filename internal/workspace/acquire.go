package workspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// leaseTime is how long a lease holds that nobody renews, and renewPeriod how often Keep renews one.
	leaseTime   = 5 * time.Second
	renewPeriod = time.Second
	// lookPeriod is how often one that waits looks by itself: the end of a lease that ran out is told to nobody.
	lookPeriod = 500 * time.Millisecond
)

// acquireScript gives a lease. KEYS[4] is what the job stored. ARGV: token, owner, job, time of a lease,
// expiry. The number is at least the time in microseconds, so that it grows even when the session was deleted or expired
// in between. The reply is committed and what was stored, busy and by whom, or leased and the head.
var acquireScript = newScript(`
local stored = redis.call('GET', KEYS[4])
if stored then
	return {'committed', stored}
end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then
	return {'busy', get('owner') or '', get('job') or ''}
end
if not holder then
	local fence = math.max((tonumber(get('fence')) or 0) + 1, micros())
	redis.call('HSET', KEYS[1], 'fence', number(fence), 'owner', ARGV[2], 'job', ARGV[3])
	redis.call('HSETNX', KEYS[1], 'created', number(now()))
	redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[4])
end
used(ARGV[5])
local reply = redis.call('HGETALL', KEYS[1])
table.insert(reply, 1, 'leased')
return reply
`)

// Acquire takes a session for a job, and makes one that does not exist. Owner is who runs the job, such as a
// worker's id. If the job committed already, the Lease says so in Committed and holds nothing. While somebody
// else has the session, the error is ErrBusy; when ctx ended, it is the cause of that. The caller releases the
// lease.
func (s *Store) Acquire(ctx context.Context, session Session, owner, job string) (*Lease, error) {
	if err := CheckName(session.Name); err != nil {
		return nil, err
	}
	lease := &Lease{store: s, session: session, job: job, token: newToken()}
	reply, err := s.run(ctx, acquireScript, session, []string{s.keys.result(session, job)},
		lease.token, owner, job, millis(leaseTime), millis(s.options.Expiry))
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("acquire %s: %w", session, err)
	}
	switch reply[0] {
	case "committed":
		lease.Committed, err = s.parseCommitted(s.keys.result(session, job), reply[1])
		return lease, err
	case "busy":
		return nil, fmt.Errorf("%s has job %s on %s: %w", session, reply[2], reply[1], ErrBusy)
	}
	lease.Head = newHead(session, pairs(reply[1:]))
	lease.Head.ExpiresAt = lease.Head.UsedAt.Add(s.options.Expiry)
	if err := s.enter(ctx, session); err != nil {
		return nil, errors.Join(err, lease.Release(ctx))
	}
	return lease, nil
}

// pairs makes a map of a list of names and values.
func pairs(list []string) map[string]string {
	fields := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		fields[list[i]] = list[i+1]
	}
	return fields
}

// AcquireWait is Acquire for one that waits up to most until the session is free, and then has ErrBusy. It is
// not first come, first served.
func (s *Store) AcquireWait(ctx context.Context, session Session, owner, job string, most time.Duration) (*Lease, error) {
	lease, err := s.Acquire(ctx, session, owner, job)
	if !errors.Is(err, ErrBusy) || most <= 0 {
		return lease, err
	}
	over := time.NewTimer(most)
	defer over.Stop()
	look := time.NewTicker(s.look)
	defer look.Stop()
	subscription := s.rdb.Subscribe(ctx, s.keys.freeChannel(session))
	defer func() { _ = subscription.Close() }()
	// The confirmation of the subscription comes through the channel, too, and has it look once more.
	free := subscription.ChannelWithSubscriptions(redis.WithChannelSize(16))
	for errors.Is(err, ErrBusy) {
		select {
		case <-free:
		case <-look.C:
		case <-over.C:
			return nil, err
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("wait for %s: %w", session, context.Cause(ctx))
		}
		lease, err = s.Acquire(ctx, session, owner, job)
	}
	return lease, err
}

// parseCommitted reads what commitScript stored in a key of the job.
func (s *Store) parseCommitted(key, stored string) (*Committed, error) {
	for i := range stored {
		if stored[i] != ' ' {
			continue
		}
		version, err := strconv.ParseInt(stored[:i], 10, 64)
		if err != nil {
			break
		}
		packed, err := s.open(key, []byte(stored[i+1:]))
		if err != nil {
			return nil, fmt.Errorf("read the result of a commit: %w", err)
		}
		result, err := unpackResult(packed)
		return &Committed{Version: version, Result: result}, err
	}
	return nil, fmt.Errorf("read the result of a commit: %w", ErrDamaged)
}
