// Package docker runs a [sandbox.Program] in a hardened throwaway container of a Docker
// daemon, with sandbox-init as its first process.
//
// Its one invariant: a container in which user code ran is removed on every path, and is not used for
// another program before that; the programs of one batch alone may share one, each with nothing left of the others.
//
// It imports internal/sandbox, wire, labels and the Docker SDK; it never imports
// internal/jobs, whose Runner interface it satisfies.
package docker
