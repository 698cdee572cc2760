package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxAnswer is in bytes, and far above what any model says in a turn.
const maxAnswer = 64 << 20

var errSilent = errors.New("the provider sent nothing for too long")

// guard is a transport whose answers end: at the latest when nothing came for a while, or when too much came.
type guard struct {
	next    http.RoundTripper
	silence time.Duration
	limit   int64
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	silent := func() bool { return errors.Is(context.Cause(ctx), errSilent) }
	timer := time.AfterFunc(g.silence, func() { cancel(errSilent) })
	response, err := g.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		timer.Stop()
		cancel(nil)
		if silent() {
			return nil, errSilent
		}
		return nil, err
	}
	response.Body = &guardedBody{
		ReadCloser: response.Body, rest: io.LimitReader(response.Body, g.limit),
		cancel: cancel, silent: silent, timer: timer, silence: g.silence,
	}
	return response, nil
}

// guardedBody is an answer that is being read, from one goroutine.
type guardedBody struct {
	io.ReadCloser
	rest    io.Reader
	cancel  context.CancelCauseFunc
	silent  func() bool
	timer   *time.Timer
	silence time.Duration
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.rest.Read(p)
	if err == nil {
		b.timer.Reset(b.silence)
		return n, nil
	}
	if b.silent() {
		return n, errSilent
	}
	return n, err
}

func (b *guardedBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
