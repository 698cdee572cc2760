package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// holdScript makes an interpreter the session's. ARGV: number, worker, language, nonce.
var holdScript = newScript(`
if get('fence') ~= ARGV[1] then
	return {'fenced'}
end
redis.call('HDEL', KEYS[1], 'live_ended')
redis.call('HSET', KEYS[1], 'live_worker', ARGV[2], 'live_language', ARGV[3], 'live_nonce', ARGV[4], 'live_since', number(now()))
return {'held', get('live_since')}
`)

// Hold makes a live interpreter the session's, in place of any other, until LetGo. Worker, Language and Nonce must be set.
func (l *Lease) Hold(ctx context.Context, holder Holder) error {
	if l.Committed != nil {
		return ErrFenced
	}
	reply, err := l.run(ctx, holdScript, nil, holder.Worker, holder.Language, holder.Nonce)
	if err != nil {
		return fmt.Errorf("hold %s: %w", l.session, err)
	}
	holder.Since = newHead(l.session, map[string]string{"live_nonce": holder.Nonce, "live_since": reply[1]}).Live.Since
	l.Head.Live, l.Head.LiveEnded = &holder, ""
	return nil
}

// letGoScript takes an interpreter from the session. ARGV: nonce, reason.
var letGoScript = newScript(`
if get('live_nonce') ~= ARGV[1] then
	return {'not held'}
end
redis.call('HDEL', KEYS[1], 'live_worker', 'live_language', 'live_nonce', 'live_since')
redis.call('HSET', KEYS[1], 'live_ended', ARGV[2])
return {'let go'}
`)

// LetGo takes the live interpreter with this nonce from the session, with a sentence why it ended, which the next
// call finds in Head.LiveEnded. It needs no lease, since no other interpreter has the nonce; one that is not the session's
// any more is no error.
func (s *Store) LetGo(ctx context.Context, session Session, nonce, reason string) error {
	if _, err := s.run(ctx, letGoScript, session, nil, nonce, reason); err != nil {
		return fmt.Errorf("let go of %s: %w", session, err)
	}
	return nil
}

// Holds tells whether the live interpreter with this nonce is still the session's.
func (s *Store) Holds(ctx context.Context, session Session, nonce string) (bool, error) {
	current, err := s.rdb.HGet(ctx, s.keys.head(session), "live_nonce").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, fmt.Errorf("look who holds %s: %w", session, err)
	}
	return err == nil && current == nonce, nil
}
