// Package egress is the proxy through which programs with a network reach the few names that their tenant's rule allows.
//
// Its one invariant: a connection goes to an address that was resolved here and checked right before, of a name that the rule of the
// job which asks allows; the program chooses neither the address nor the resolver. Whatever is not understood is refused.
//
// It knows neither Docker nor the queue: a worker starts it as process 1 of a container (see internal/sandbox/docker) and tells it over
// stdin which job has which address, token and rule; the rules themselves are a file that it is started with, so that
// whoever made the container bounds what a worker can open. Over stdout it tells what became of each connection. It may import internal/sandbox.
package egress
