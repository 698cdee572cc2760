package mcp

import (
	"crypto/rand"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// postHeader carries the number of a request to its call. The SDK passes the headers of a request on, but not its
// context, and so keeps a call running whose answer nobody can fetch any more.
const postHeader = "Sandloop-Request"

// posts are the HTTP requests that are being served.
type posts struct {
	mu   sync.Mutex
	open map[string]<-chan struct{}
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
