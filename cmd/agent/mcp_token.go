package main

import (
	"os"

	"github.com/sandloop/sandloop/internal/agent/mcp"
	"github.com/sandloop/sandloop/internal/cli"
)

// tokenVariable holds the token of agent mcp --http. There is no flag for it, since every user of a machine
// can read command lines.
const tokenVariable = "SANDLOOP_MCP_TOKEN" //nolint:gosec // a name, not a token

// token reads the token that requests must bear, nil if there is none. Errors name its source and never the token.
func (f *mcpFlags) token(a *app) (*mcp.Token, error) {
	source, text := tokenVariable, a.getenv(tokenVariable)
	if f.tokenFile != "" {
		if f.http == "" {
			return nil, cli.Usagef("--token-file: a token is for --http")
		}
		content, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, cli.Usagef("--token-file: %w", err)
		}
		source, text = "--token-file "+f.tokenFile, string(content)
	} else if f.http == "" || text == "" {
		return nil, nil
	}
	token, err := mcp.ParseToken(text)
	if err != nil {
		return nil, cli.Usagef("%s: %w", source, err)
	}
	return token, nil
}
