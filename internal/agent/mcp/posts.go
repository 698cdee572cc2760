package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// postHeader carries the number of a request to its call. The SDK passes the headers of a request on, but not its
// context, and so keeps a call running whose answer nobody can fetch any more.
const postHeader = "Sandloop-Request"

// posts are the HTTP requests with messages of clients that are being served.
type posts struct {
	mu   sync.Mutex
	open map[string]<-chan struct{}
	// empty, if somebody waits for it, is closed when nothing is open.
	empty chan struct{}
}

// add numbers a request, whatever number its client gave it, and returns what forgets it.
func (p *posts) add(r *http.Request) (remove func()) {
	number := rand.Text()
	r.Header.Set(postHeader, number)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]<-chan struct{}{}
	}
	p.open[number] = r.Context().Done()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, number)
		if len(p.open) == 0 && p.empty != nil {
			close(p.empty)
			p.empty = nil
		}
	}
}

// drain returns when no request is served any more, or ctx ends.
func (p *posts) drain(ctx context.Context) {
	p.mu.Lock()
	if len(p.open) == 0 {
		p.mu.Unlock()
		return
	}
	if p.empty == nil {
		p.empty = make(chan struct{})
	}
	empty := p.empty
	p.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// done is closed when the request of a call has ended. It is nil for a call that did not come over HTTP.
func (p *posts) done(extra *sdk.RequestExtra) <-chan struct{} {
	if extra == nil || extra.Header == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	done, ok := p.open[extra.Header.Get(postHeader)]
	if !ok {
		return ended // the client was gone before the call began
	}
	return done
}

var ended = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
