// Package e2e proves the whole way of a job: the built programs as processes, a real Redis
// and real containers. It has tests only.
//
// Its one invariant: every test ends with nothing of its installation left on the Docker daemon.
//
// It reaches the programs through their command lines; of ours it imports internal/testenv and
// the names of labels only.
package e2e
