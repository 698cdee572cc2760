package jobs

import (
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/seal"
)

// ClientOptions are what a Client needs to know; the zero value is usable.
type ClientOptions struct {
	// Prefix starts every key, DefaultPrefix when empty. It must be the workers'.
	Prefix string
	// Retention is how long the result of a job that is canceled while it waits is
	// kept: 24 h when 0; less than 1 s means 1 s.
	Retention time.Duration
	// BodyLimit is the size in bytes of the largest job in JSON, DefaultBodyLimit when 0 and never more than MaxBodyLimit.
	BodyLimit int
	// Tracer makes the spans of submissions; nil makes none, and jobs carry on the trace of their context.
	Tracer trace.TracerProvider
	// SignKeys sign what is submitted; nil signs nothing, and workers that have keys refuse it.
	SignKeys *seal.Keys
	// SealKeys seal and open what Redis keeps of jobs; nil leaves it plain. They must be the workers'.
	SealKeys *seal.Keys
	// Log is told what no caller hears of; nil is silence.
	Log *slog.Logger
}

// Client submits jobs and learns what became of them. It is safe for concurrent use.
type Client struct {
	store     *store
	bodyLimit int
	signs     *seal.Keys
	tracer    trace.TracerProvider

	mu       sync.Mutex
	hub      *hub // made by the first Await
	isClosed bool
}

// NewClient makes a Client on a connection that stays the caller's.
func NewClient(rdb redis.UniversalClient, options ClientOptions) *Client {
	if options.BodyLimit == 0 {
		options.BodyLimit = DefaultBodyLimit
	}
	store := newStore(rdb, options.Prefix, options.Retention, options.SealKeys, options.Log)
	return &Client{store: store, bodyLimit: min(options.BodyLimit, MaxBodyLimit), signs: options.SignKeys, tracer: options.Tracer}
}

// Close ends the Client's subscription. Every Await that still waits returns ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	hub := c.hub
	c.isClosed = true
	c.mu.Unlock()
	if hub == nil {
		return nil
	}
	return hub.close()
}
