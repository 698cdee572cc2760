// Package dockerproxy stands between workers and a Docker daemon, whose socket is worth root on its host, and lets through what
// workers do and nothing else.
//
// Its one invariant: a container or a network is created only if internal/sandbox/docker itself would make it so, and nothing that lacks sandloop's labels is touched.
// What is forwarded is written anew from what was understood of a request, so that proxy and daemon cannot read it differently.
//
// It imports the Docker SDK, internal/sandbox/docker and internal/sandbox/labels.
package dockerproxy
