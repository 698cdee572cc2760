package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sandloop/sandloop/internal/agent"
)

// Options are what a Server is made of.
type Options struct {
	// Version is what clients are told.
	Version string
	// Instructions tell a model what the tools are for.
	Instructions string
	// Specs are the tools that clients can list and call.
	Specs []agent.ToolSpec
	// Open makes the tools of a connection, at its first call. closeTools is called once, after the connection's last
	// call, and must bound its own time.
	Open func(ctx context.Context) (tools agent.Tools, closeTools func(), err error)
	// IdleTime is how long a connection over HTTP may have no request before it ends; 0 means an hour.
	IdleTime time.Duration
	// Logger gets a line for each connection and each refused request, nil for none. No line holds a token.
	Logger *slog.Logger
}

// idleTime is long, since people leave an editor open over lunch and a connection costs next to nothing.
const idleTime = time.Hour

// Server serves tools to any number of connections. Each has tools of its own.
type Server struct {
	options Options
	sdk     *sdk.Server
	posts   posts
	// closing is closed when the server shuts down.
	closing chan struct{}

	// mu guards the connections that have called a tool.
	mu          sync.Mutex
	connections map[*sdk.ServerSession]*connection
	// open counts connections whose tools are not closed yet.
	open sync.WaitGroup
}

// New makes a server. It serves once: Stdio or HTTP.
func New(options Options) *Server {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.IdleTime == 0 {
		options.IdleTime = idleTime
	}
	s := &Server{
		options: options, closing: make(chan struct{}),
		connections: map[*sdk.ServerSession]*connection{},
	}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "sandloop", Title: "sandloop", Version: options.Version},
		&sdk.ServerOptions{
			Instructions: options.Instructions,
			// The list of tools never changes, and there is nothing to log to a client.
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		},
	)
	for _, spec := range options.Specs {
		s.sdk.AddTool(tool(spec), s.call)
	}
	return s
}

// readers are the tools that change nothing, which clients may run without asking their user.
var readers = map[string]bool{"read_file": true, "list_files": true, "wait_job": true}

// tool describes a tool as the protocol does. Everything happens in a sandbox without a network, so nothing outside
// of it can be destroyed.
func tool(spec agent.ToolSpec) *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: spec.Name, Description: spec.Description, InputSchema: spec.Schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readers[spec.Name], DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// closeSessions ends all connections and returns when they have ended. Their calls must be on their way out.
func (s *Server) closeSessions() {
	var all sync.WaitGroup
	for session := range s.sdk.Sessions() {
		all.Go(func() { _ = session.Close() })
	}
	all.Wait()
}
