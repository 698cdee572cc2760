package egress

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Order is a line of JSON from the worker to the proxy.
type Order struct {
	// At is the proxy's address in the network of the job.
	At netip.Addr `json:"at"`
	// Open lets a job use the proxy there; nil ends it.
	Open *Job `json:"open,omitempty"`
}

// Notice is a line of JSON from the proxy to the worker. Its first is an empty one: the proxy listens.
type Notice struct {
	// At is that of the order which this answers.
	At netip.Addr `json:"at,omitzero"`
	// Opened answers Order.Open, and Refused too: why it could not be done.
	Opened  bool   `json:"opened,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Closed answers an order that ends a use: what was done.
	Closed *sandbox.NetworkUse `json:"closed,omitempty"`
	// Job, Tenant and Connection tell what became of a connection.
	Job        string              `json:"job,omitempty"`
	Tenant     string              `json:"tenant,omitempty"`
	Connection *sandbox.Connection `json:"connection,omitempty"`
}

// MaxLine bounds a line of either side in bytes.
const MaxLine = 1 << 20

// Run serves a listener as the orders that come over stdin say, and as the rules allow, until stdin ends: then the worker is gone.
func Run(ctx context.Context, listener net.Listener, network Network, rules []Rule, stdin io.Reader, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu      sync.Mutex
		encoder = json.NewEncoder(stdout)
	)
	say := func(n Notice) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(n) // a worker that does not hear ends stdin too
	}
	proxy := New(network, rules, func(job Job, made sandbox.Connection) {
		say(Notice{Job: job.Job, Tenant: job.Tenant, Connection: &made})
	})
	served := make(chan error, 1)
	go func() { defer cancel(); served <- proxy.Serve(ctx, listener) }()
	say(Notice{})
	err := obey(stdin, func(o Order) {
		if o.Open != nil {
			if err := proxy.Open(o.At, *o.Open); err != nil {
				say(Notice{At: o.At, Refused: err.Error()})
				return
			}
			say(Notice{At: o.At, Opened: true})
			return
		}
		go func() { // connections that have to be cut must not hold up the next order
			use := proxy.Close(o.At)
			say(Notice{At: o.At, Closed: &use})
		}()
	})
	cancel()
	return errors.Join(err, <-served)
}

// obey reads orders until their end.
func obey(orders io.Reader, do func(Order)) error {
	lines := bufio.NewScanner(orders)
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		var o Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		do(o)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	return nil
}
