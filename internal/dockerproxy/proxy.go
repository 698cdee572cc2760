package dockerproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Options configure a [Proxy]. Docker, Images and Maxima must be set.
type Options struct {
	// Docker is the daemon behind the proxy. It stays the caller's.
	Docker *client.Client
	// Images are the names of the images that sandboxes may have.
	Images []string
	// Runtimes are those that a sandbox may have, "" is the daemon's default. None is that alone.
	Runtimes []string
	// GVisor are the names of runtimes that are gVisor's, "" among them if the daemon's default is.
	GVisor []string
	// Seccomp is the profile that a sandbox must have, as docker.Options has it.
	Seccomp string
	// Maxima bound the limits of a sandbox from above.
	Maxima sandbox.Limits
	// Network lets sandboxes have Docker's bridge.
	Network bool
	// Egress lets sandboxes have a network with a gate of ours in it; nil is that none has, and that no network is made.
	Egress *Egress
	// Installation, if not empty, is the only one whose containers may be made and touched.
	Installation string
	// Log is told of each request that is refused; nil is silence.
	Log *slog.Logger
}

// Proxy is an http.Handler that forwards to a Docker daemon. It is safe for concurrent use.
type Proxy struct {
	options   Options
	upstream  *http.Transport
	forwarder *httputil.ReverseProxy

	mu sync.Mutex
	// ours are the roles of containers by their full id, which is no other container's ever.
	ours map[string]string
}

// New makes a proxy.
func New(options Options) *Proxy {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if len(options.Runtimes) == 0 {
		options.Runtimes = []string{""}
	}
	p := &Proxy{options: options, ours: map[string]string{}}
	dial := options.Docker.Dialer()
	p.upstream = &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true, IdleConnTimeout: time.Minute,
	}
	p.forwarder = &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // the request is written anew before
		FlushInterval: -1,                              // events and waits answer piece by piece
		Transport:     p.upstream,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			options.Log.WarnContext(r.Context(), "docker daemon did not answer", "method", r.Method, "path", r.URL.Path, "error", err)
			answer(w, http.StatusBadGateway, "the Docker daemon did not answer: "+err.Error())
		},
		ErrorLog: slog.NewLogLogger(options.Log.Handler(), slog.LevelDebug),
	}
	return p
}

// call is a request as far as it was understood. What a rule leaves in it is forwarded.
type call struct {
	method string
	// path has no version; names are what its pattern captured.
	path  string
	names []string
	query url.Values
	body  []byte
	// upgrade tells that the connection becomes a stream.
	upgrade bool
}

// refusal is why a request is not forwarded.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

var versioned = regexp.MustCompile(`^(/v1\.[0-9]{1,3})?(/[a-zA-Z0-9_./:@-]*)$`)

// ServeHTTP forwards what a rule allows.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, c, err := p.understand(r)
	var refused *refusal
	switch {
	case err == nil:
		p.forward(w, r, version, c)
	case errors.As(err, &refused):
		p.options.Log.WarnContext(r.Context(), "request to docker refused", "method", r.Method, "uri", r.URL.RequestURI(), "reason", err)
		answer(w, http.StatusForbidden, "sandloop's docker-proxy refuses "+r.Method+" "+r.URL.EscapedPath()+": "+err.Error())
	case errdefs.IsNotFound(err):
		answer(w, http.StatusNotFound, err.Error())
	default:
		p.options.Log.WarnContext(r.Context(), "docker daemon did not answer", "method", r.Method, "uri", r.URL.RequestURI(), "error", err)
		answer(w, http.StatusBadGateway, err.Error())
	}
}

// answer is an error in the daemon's form.
func answer(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// maxBody bounds a body in bytes: sandbox-init in its archive is the largest.
const maxBody = 16 << 20

// understand finds the rule of a request and has it applied.
func (p *Proxy) understand(r *http.Request) (version string, c *call, err error) {
	match := versioned.FindStringSubmatch(r.URL.EscapedPath())
	if match == nil || strings.Contains(match[2], "..") || strings.Contains(match[2], "//") {
		return "", nil, refuse("the path has characters that no path of a worker has")
	}
	c = &call{method: r.Method, path: match[2]}
	if c.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return "", nil, refuse("the query cannot be read: %v", err)
	}
	for name, values := range c.query {
		if len(values) != 1 {
			return "", nil, refuse("query parameter %.40q is given %d times", name, len(values))
		}
	}
	apply := p.rule(c)
	if apply == nil {
		return "", nil, refuse("workers do not use it")
	}
	if c.body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
		return "", nil, refuse("the body cannot be read: %v", err)
	}
	if len(c.body) > maxBody {
		return "", nil, refuse("the body is more than %d bytes", maxBody)
	}
	return match[1], c, apply(r.Context(), c)
}

// forward sends a call to the daemon, with no header of the request but those that mean something here.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, version string, c *call) {
	out := r.Clone(r.Context())
	out.URL = &url.URL{Scheme: "http", Host: "docker", Path: version + c.path, RawQuery: c.query.Encode()}
	out.Host, out.RequestURI = "docker", ""
	out.Header, out.Trailer, out.TransferEncoding = http.Header{}, nil, nil
	if contentType := r.Header.Get("Content-Type"); len(c.body) > 0 && contentType != "" {
		out.Header.Set("Content-Type", contentType)
	}
	if c.upgrade {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", "tcp")
	}
	out.Body, out.ContentLength = http.NoBody, 0
	if len(c.body) > 0 {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	}
	p.forwarder.ServeHTTP(w, out)
}
