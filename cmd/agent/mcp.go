package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/agent/mcp"
	"github.com/sandloop/sandloop/internal/cli"
)

const longMCPHelp = `mcp serves the agent's tools to any client of the Model Context Protocol: over standard input and output,
as most clients start it, or with --http over streamable HTTP.

Each connection has a workspace of its own, which is deleted with it, unless --session names one to share and
to keep. Over HTTP a connection without requests ends after an hour. On an address that other machines can
reach every request must bear a token; on this machine's own it must where there is one.`

// defaultHTTP is where --http serves without an address.
const defaultHTTP = "127.0.0.1:8765"

// mcpFlags are the flags of agent mcp.
type mcpFlags struct {
	session         sessionFlags
	http, tokenFile string
}

// newMCPCommand makes agent mcp.
func newMCPCommand(a *app) *cobra.Command {
	var f mcpFlags
	command := &cobra.Command{
		Use: "mcp", Short: "Serve the tools to clients of the Model Context Protocol", Long: longMCPHelp,
		Example: `  agent mcp
  agent mcp --http --session notebook
  SANDLOOP_MCP_TOKEN=$(openssl rand -hex 24) agent mcp --http 0.0.0.0:8765`,
		Args: f.args,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, a) },
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.http, "http", "", "serve over HTTP at `ADDRESS` instead of standard input and output")
	flags.Lookup("http").NoOptDefVal = defaultHTTP
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the bearer token that requests over HTTP must have\n(default: the variable "+tokenVariable+")")
	f.session.add(flags)
	return command
}

// args takes the address of --http also without a =.
func (f *mcpFlags) args(cmd *cobra.Command, args []string) error {
	if f.http == defaultHTTP && len(args) == 1 {
		f.http, args = args[0], nil
	}
	return cobra.NoArgs(cmd, args)
}

func (f *mcpFlags) run(cmd *cobra.Command, a *app) error {
	ctx := cmd.Context()
	token, err := f.token(a)
	if err != nil {
		return err
	}
	if err := f.session.check(); err != nil {
		return err
	}
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	defer s.traces.Close(ctx)
	a.stderr = &oneByOne{to: a.stderr}
	c, closeConnection, err := s.reach(ctx, a)
	if err != nil {
		return err
	}
	defer closeConnection()
	logger := slog.New(slog.NewTextHandler(a.stderr, nil))
	if f.http == "" {
		logger = nil // the client knows when it begins and ends
	}
	server := mcp.New(f.options(s, c, cmd.Root().Version, logger))
	if f.http != "" {
		return serveHTTP(ctx, a, server, f.http, token)
	}
	return server.Stdio(ctx, readCloser(a.stdin), a.stdout)
}

func serveHTTP(ctx context.Context, a *app, server *mcp.Server, address string, token *mcp.Token) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return cli.Usagef("--http: %w", err)
	}
	if err := mcp.CheckAddress(listener.Addr(), token); err != nil {
		_ = listener.Close()
		return cli.Usagef("--http: %w: set %s or --token-file", err, tokenVariable)
	}
	a.say("serving MCP at http://%s%s", listener.Addr(), mcp.Path)
	return server.HTTP(ctx, listener, token)
}

// readCloser gives a reader that nobody need close a Close.
func readCloser(r io.Reader) io.ReadCloser {
	if closer, ok := r.(io.ReadCloser); ok {
		return closer
	}
	return io.NopCloser(r)
}

// oneByOne lets several goroutines write lines.
type oneByOne struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes when nobody else does.
func (w *oneByOne) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(line)
}
