// Package docker runs a [sandbox.Program] in a hardened throwaway container of a Docker
// daemon, with sandbox-init as its first process.
//
// Its one invariant: a container in which user code ran is removed on every path and never
// used for another program.
//
// It imports internal/sandbox, wire, labels and the Docker SDK; it never imports
// internal/jobs, whose Runner interface it satisfies.
package docker
