package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/seal"
)

var (
	// ErrNotFound means that there is no such session, or that it expired.
	ErrNotFound = errors.New("no such session")
	// ErrBusy means that somebody else holds the lease of a session.
	ErrBusy = errors.New("the session is in use")
	// ErrFenced means that a lease is over: somebody else got one after it, or the session was deleted. Nothing was changed.
	ErrFenced = errors.New("the session was taken over by another job or deleted")
	// ErrInvalid means that files cannot be those of a session, since no folder could hold them.
	ErrInvalid = errors.New("these files cannot be kept")
	// ErrDamaged means that what Redis holds of a session cannot be read, which no repetition mends.
	ErrDamaged = errors.New("the stored files are damaged: delete the session and start anew")
)

// Options say how much a Store keeps. The zero value of each is its default.
type Options struct {
	// Prefix starts every key; DefaultPrefix by default.
	Prefix string
	// Quota bounds the files of a session together in bytes, MaxFiles their number; 64 MiB and 1000 by default.
	Quota    int64
	MaxFiles int
	// Expiry is how long a session is kept after its last use; 24 h by default.
	Expiry time.Duration
	// Keys seal the files in Redis and the results of commits; nil leaves them plain.
	Keys *seal.Keys
	// Log hears of leases that could not be renewed; nothing by default.
	Log *slog.Logger
}

// Store keeps sessions in Redis. It is used from many goroutines.
type Store struct {
	rdb     redis.UniversalClient
	keys    keys
	options Options
	// look is how often one that waits for a session looks by itself.
	look time.Duration
}

// New makes a store on a client, which stays the caller's to close.
func New(rdb redis.UniversalClient, options Options) *Store {
	if options.Prefix == "" {
		options.Prefix = DefaultPrefix
	}
	if options.Quota == 0 {
		options.Quota = 64 * sandbox.MiB
	}
	if options.MaxFiles == 0 {
		options.MaxFiles = 1000
	}
	if options.Expiry == 0 {
		options.Expiry = 24 * time.Hour
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{rdb: rdb, keys: keys{prefix: options.Prefix}, options: options, look: lookPeriod}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// run runs a script on the keys of one session and some more. Its reply is a list of strings.
func (s *Store) run(ctx context.Context, script *redis.Script, session Session, more []string, args ...any) ([]string, error) {
	reply, err := script.Run(ctx, s.rdb, append(s.keys.session(session), more...), args...).StringSlice()
	if err != nil {
		return nil, err
	}
	if len(reply) == 0 {
		return nil, errors.New("script gave an empty reply")
	}
	return reply, nil
}

// Info returns what is known of a session.
func (s *Store) Info(ctx context.Context, session Session) (Head, error) {
	if err := CheckName(session.Name); err != nil {
		return Head{}, err
	}
	heads, err := s.heads(ctx, []Session{session})
	if err != nil {
		return Head{}, fmt.Errorf("read %s: %w", session, err)
	}
	if len(heads) == 0 {
		return Head{}, fmt.Errorf("%s: %w", session, ErrNotFound)
	}
	return heads[0], nil
}

// heads reads the heads of those sessions that exist.
func (s *Store) heads(ctx context.Context, sessions []Session) ([]Head, error) {
	fields := make([]*redis.MapStringStringCmd, len(sessions))
	left := make([]*redis.DurationCmd, len(sessions))
	leased := make([]*redis.IntCmd, len(sessions))
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, session := range sessions {
			fields[i] = pipe.HGetAll(ctx, s.keys.head(session))
			left[i] = pipe.PTTL(ctx, s.keys.head(session))
			leased[i] = pipe.Exists(ctx, s.keys.lease(session))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var heads []Head
	for i, session := range sessions {
		if len(fields[i].Val()) == 0 {
			continue
		}
		head := newHead(session, fields[i].Val())
		head.ExpiresAt = time.Now().Add(left[i].Val()).UTC().Truncate(time.Second)
		if leased[i].Val() > 0 {
			head.Busy = &User{Owner: fields[i].Val()["owner"], Job: fields[i].Val()["job"]}
		}
		heads = append(heads, head)
	}
	return heads, nil
}

func isFenced(err error) bool { return errors.Is(err, ErrFenced) }
