package workspace

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Lease is the right to change a session. All methods but Keep are for one goroutine.
type Lease struct {
	// Head is the session as it was when the lease was given, and after each Commit and Hold.
	Head Head
	// Committed is not nil if the job committed before. The lease then holds nothing.
	Committed *Committed

	store   *Store
	session Session
	job     string
	token   string
}

// Committed is what a job stored with its commit.
type Committed struct {
	// Version is that of the files after the job.
	Version int64
	// Result is Commit.Result.
	Result []byte
}

// Fence is the number of the lease, which is higher than that of every lease of the session before it.
func (l *Lease) Fence() int64 { return l.Head.fence }

func (l *Lease) fence() string { return strconv.FormatInt(l.Head.fence, 10) }

// run runs a script with the number of the lease as its first argument. A reply of fenced is ErrFenced.
func (l *Lease) run(ctx context.Context, script *redis.Script, more []string, args ...any) ([]string, error) {
	reply, err := l.store.run(ctx, script, l.session, more, append([]any{l.fence()}, args...)...)
	if err == nil && reply[0] == "fenced" {
		return nil, ErrFenced
	}
	return reply, err
}

// renewScript renews a lease. ARGV: number, token, time of a lease, expiry. One that ran out while nobody
// else got one holds again.
var renewScript = newScript(`
if get('fence') ~= ARGV[1] then
	return {'fenced'}
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
used(ARGV[4])
return {'ok'}
`)

// Keep renews the lease until the returned function is called, which waits for the last renewal: also when ctx ends, for
// a job that is canceled has the session until it has cleaned up. The context
// that it returns ends with the cause ErrFenced when the lease is lost for certain. While Redis does not answer, it
// goes on: if nobody else gets a lease meanwhile, the files can still be committed.
func (l *Lease) Keep(ctx context.Context) (context.Context, func()) {
	kept, cancel := context.WithCancelCause(ctx)
	if l.Committed != nil {
		return kept, func() { cancel(nil) }
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	fence, ended := l.fence(), make(chan struct{})
	go func() {
		defer close(ended)
		l.renewUntil(renewing, fence, cancel)
	}()
	return kept, func() { cancel(nil); stop(); <-ended }
}

func (l *Lease) renewUntil(ctx context.Context, fence string, lost context.CancelCauseFunc) {
	tick := time.NewTicker(renewPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.renew(ctx, fence)
		switch {
		case err == nil || ctx.Err() != nil:
		case isFenced(err):
			lost(fmt.Errorf("job %s: %s: %w", l.job, l.session, ErrFenced))
			return
		default:
			l.store.options.Log.WarnContext(ctx, "lease of a session not renewed, will try again", "session", l.session.Name, "job", l.job, "error", err)
		}
	}
}

func (l *Lease) renew(ctx context.Context, fence string) error {
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	reply, err := l.store.run(ctx, renewScript, l.session, nil, fence, l.token, millis(leaseTime), millis(l.store.options.Expiry))
	if err != nil {
		return err
	}
	if reply[0] == "fenced" {
		return ErrFenced
	}
	return l.store.enter(ctx, l.session)
}

// releaseScript ends a lease. ARGV: number, channel. The number goes up, so that a renewal on its
// way does not bring the lease back.
var releaseScript = newScript(`
if get('fence') ~= ARGV[1] then
	return {'fenced'}
end
redis.call('HSET', KEYS[1], 'fence', number(tonumber(ARGV[1]) + 1))
redis.call('HDEL', KEYS[1], 'owner', 'job')
redis.call('DEL', KEYS[2])
redis.call('PUBLISH', ARGV[2], '')
return {'ok'}
`)

// releaseTime bounds a Release, which also has to work when the job's own context is over.
const releaseTime = 10 * time.Second

// Release gives the session free for the next job. One that is over already is no error. What was not committed is
// dropped.
func (l *Lease) Release(ctx context.Context) error {
	if l.Committed != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	_, err := l.run(ctx, releaseScript, nil, l.store.keys.freeChannel(l.session))
	if err != nil && !isFenced(err) {
		return fmt.Errorf("release %s: %w", l.session, err)
	}
	return nil
}

// Files returns the files of the session by path. The caller may keep and change them.
func (l *Lease) Files(ctx context.Context) ([]sandbox.File, error) {
	if l.Committed != nil {
		return nil, ErrFenced
	}
	files, changed, err := l.store.read(ctx, l.session, l.Head)
	if changed {
		err = ErrFenced
	}
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", l.session, err)
	}
	return files, nil
}
