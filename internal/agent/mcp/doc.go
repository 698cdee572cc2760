// Package mcp serves an agent's tools to clients of the Model Context Protocol, over stdin and stdout or over
// streamable HTTP.
//
// Its one invariant: what a client started ends with it. A call whose request is canceled, whose connection
// is gone or whose server shuts down is canceled, and the tools of a connection are closed after its last call.
//
// It may import internal/agent and the official Go SDK of the protocol, and knows neither queue nor sandbox.
package mcp
