// Package mcp proves that a client which is not ours can use the tools: the official TypeScript SDK drives
// `agent mcp` over stdio and streamable HTTP, with a real Redis, a worker and containers behind it. It has tests only.
//
// Its one invariant: every test ends with nothing of its installation left on the Docker daemon and in Redis.
//
// It reaches the programs through their command lines; of ours it imports internal/testenv and the names of labels only.
package mcp
