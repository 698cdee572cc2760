package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTime  = 5 * time.Second
	requestTime = 10 * time.Second
	answerTime  = 30 * time.Second
	keepAlive   = 2 * time.Minute
	headerLimit = 16 << 10
	// closeGrace is how long answers under way may take at the end.
	closeGrace = 2 * time.Second
)

// Options say what is served. Only Token may be empty.
type Options struct {
	// Token is what Overview and Queues want of a request: as a bearer token, or as the password of any user. Without one
	// nobody sees them.
	Token string
	// ProtectMetrics wants the token for Metrics too.
	ProtectMetrics bool
	// Live is what /livez asks. It must not ask anybody else.
	Live func() error
	// Checks are what /readyz asks. All must pass.
	Checks []Check
	// Metrics answers scrapes.
	Metrics http.Handler
	// Overview is what the page at / shows.
	Overview func(context.Context) (Overview, error)
	// Queues serves asynq's own pages below QueuesPath.
	Queues http.Handler
	// Log hears when the worker becomes ready and when it is not any more.
	Log *slog.Logger
}

// Server serves operators. It is safe for concurrent use.
type Server struct {
	http  *http.Server
	ended chan error
}

// Start serves on a listener, which it closes, until Close.
func Start(listener net.Listener, options Options) *Server {
	s := &Server{
		http: &http.Server{
			Handler: handler(options), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime,
			IdleTimeout: keepAlive, MaxHeaderBytes: headerLimit, ErrorLog: slog.NewLogLogger(options.Log.Handler(), slog.LevelDebug),
		},
		ended: make(chan error, 1),
	}
	go func() { s.ended <- s.http.Serve(listener) }()
	return s
}

// Close ends the server, and after a moment also the answers that are under way. The error is the one that ended it before.
func (s *Server) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve operators: %w", err)
	}
	return nil
}

// handler is everything that is served. Only reading is known.
func handler(o Options) http.Handler {
	locked := newLock(o.Token)
	metrics := o.Metrics
	if o.ProtectMetrics {
		metrics = locked.guard(metrics)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /livez", livez(o.Live))
	mux.Handle("GET /readyz", readyz(o.Checks, o.Log))
	mux.Handle("GET /metrics", metrics)
	mux.Handle("GET /{$}", locked.guard(page(o.Overview)))
	mux.Handle("GET "+QueuesPath, locked.guard(o.Queues))
	return careful(mux)
}
